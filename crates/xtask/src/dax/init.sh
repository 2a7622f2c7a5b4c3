#!/bin/busybox sh
# The first program of the guest of `cargo xtask dax`. It says what it does in lines that begin with `dax: `, which
# guest.rs reads; everything else on the console is for people.

/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp RUST_BACKTRACE=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

tasks="word-count sort inverted-index term-vector sequence-count ranked-inverted-index"
corpus=/answers/corpus.tdc
passed=0
failed=0

say() {
    echo "dax: $*"
}

# The value of a parameter of the kernel.
parameter() {
    tr ' ' '\n' < /proc/cmdline | sed -n "s/^dax\.$1=//p"
}

# Hundredths of a second since the guest was turned on.
now() {
    sed 's/\.\([0-9]*\) .*/\1/' /proc/uptime
}

# check WHAT COMMAND...: runs a command or function, and counts it as passed or failed. What it printed follows a failure; its
# last line, if there is one, also a pass.
check() {
    what=$1
    shift
    begin=$(now)
    "$@" > /tmp/printed 2>&1
    status=$?
    tenths=$((($(now) - begin) / 10))
    took="$((tenths / 10)).$((tenths % 10)) s"
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        say "passed $what ($took) $(tail -n 1 /tmp/printed)"
    else
        failed=$((failed + 1))
        tail -n 60 /tmp/printed
        say "failed $what ($took, status $status)"
    fi
}

finish() {
    say "$passed passed, $failed failed"
    poweroff -f
}

load_modules() {
    for module in /modules/*; do
        insmod "$module" || return 1
    done
}

# Instructions that write a cache line back and may keep it.
has_flushes() {
    grep -q -w clwb /proc/cpuinfo && grep -q -w clflushopt /proc/cpuinfo
}

# Direct access needs blocks of the size of a page.
make_file_system() {
    ndctl create-namespace -f -e namespace0.0 -m fsdax -M mem && mkfs.ext4 -q -F -b 4096 /dev/pmem0
}

# The kernel finds the NVDIMM a moment after its modules were loaded.
mount_file_system() {
    waited=0
    while [ ! -b /dev/pmem0 ] && [ $waited -lt 300 ]; do
        usleep 100000
        waited=$((waited + 1))
    done
    mount -t ext4 -o dax=always /dev/pmem0 /mnt && grep ' /mnt ext4 .*dax=always' /proc/mounts
}

# A mapping that is synchronous: the medium of a pool says what it got.
maps_directly() {
    TADOC_DAX_FOLDER=/mnt timeout -s KILL 120 /tests/dax --nocapture || return 1
    grep 'persistent memory' /tmp/printed | tail -n 1
}

# The same must fail in a folder that is no persistent memory, or it tests nothing.
maps_elsewhere() {
    ! TADOC_DAX_FOLDER=/tmp timeout -s KILL 120 /tests/dax && grep -q 'test result: FAILED' /tmp/printed
}

# run_tests NAME: the tests of a program that work in files, in the folder that cargo would run them in, with their temporary files on the
# NVDIMM. Those on simulated memory and those of algorithms would test nothing here that they do not test elsewhere, and without KVM they are slow.
run_tests() {
    cd "$(cat /package)" || return 1
    PROPTEST_CASES=16 TMPDIR=/mnt/tmp timeout -s KILL 1800 "/tests/$1" \
        on_a_file found_finished found_again one_process other_files another_ killed_at_any_moment rows_to_work_in medium:: || return 1
    cd /
    grep '^test result' /tmp/printed
}

# arguments TASK PERSIST ARCHIVE POOL: what the command is given to answer from a pool.
arguments() {
    echo "$1 $3 --backend pool --pool $4 --persist $2"
}

# answer TASK PERSIST: answers from a pool, which must be there then, and compares with what the processor's backend said before,
# elsewhere. `length` is how long the command took.
answer() {
    length=$(now)
    timeout -s KILL 120 tadoc $(arguments "$1" "$2" $corpus /mnt/pool) > /tmp/rows 2> /tmp/said
    status=$?
    length=$(($(now) - length))
    cat /tmp/said
    [ $status = 0 ] && [ -s /mnt/pool ] && cmp /tmp/rows "/answers/$1"
}

# The bundled sample: compressed on the NVDIMM, and answered both ways there.
sample() {
    timeout -s KILL 120 tadoc compress "$(dirname "$(dirname "$(cat /package)")")/testdata/sample" --output /mnt/sample.tdc
}

# sample_answer TASK PERSIST
sample_answer() {
    timeout -s KILL 120 tadoc "$1" /mnt/sample.tdc --backend cpu > /tmp/expected || return 1
    timeout -s KILL 120 tadoc $(arguments "$1" "$2" /mnt/sample.tdc /mnt/sample.pool) > /tmp/rows || return 1
    [ -s /mnt/sample.pool ] && cmp /tmp/rows /tmp/expected
}

# killed TASK PERSIST: kills the command at a quarter, the half and three quarters of its time, each time beginning with no pool,
# and lets it go on. How long it takes varies; a kill that comes too late is done again, sooner.
killed() {
    rm -f /mnt/pool
    answer "$1" "$2" || return 1
    moment=$length
    met=0
    tries=0
    resumed=0
    while [ $met -lt 3 ] && [ $tries -lt 12 ]; do
        tries=$((tries + 1))
        rm -f /mnt/pool
        tadoc $(arguments "$1" "$2" $corpus /mnt/pool) > /dev/null 2>&1 &
        process=$!
        usleep $((moment * (met + 1) * 2500))
        kill -9 $process
        wait $process
        if [ $? = 137 ]; then
            met=$((met + 1))
            answer "$1" "$2" || return 1
            grep -q -i resum /tmp/said && resumed=$((resumed + 1))
        else
            moment=$((moment * 3 / 4))
        fi
    done
    echo "$met kills, after $resumed of which it resumed"
    [ $met = 3 ]
}

# What was at work when the power was cut goes on; all other tasks are answered from the same pool.
after_the_cut() {
    read -r task persist < /mnt/at-work || return 1
    answer "$task" "$persist" || return 1
    echo "$task $persist: $(tail -n 1 /tmp/said)"
}

# Tasks from nothing, one after the other, from the one that the parameter names on, until the power is cut.
work_until_cut() {
    first=$(parameter task)
    at_work=no
    while true; do
        for persist in operation phase; do
            for task in $tasks; do
                [ $at_work = no ] && [ "$task" != "$first" ] && continue
                rm -f /mnt/pool
                echo "$task $persist" > /mnt/at-work
                sync
                [ $at_work = no ] && say "at work"
                at_work=yes
                answer "$task" "$persist" > /tmp/printed 2>&1 || cat /tmp/printed
            done
        done
    done
}

if [ "$(parameter stage)" = hello ]; then
    say hello
    poweroff -f
fi
check "modules of the kernel" load_modules
check "clwb and clflushopt" has_flushes
if [ "$(parameter stage)" = first ]; then
    check "a file system on the NVDIMM" make_file_system
fi
check "mounted for direct access" mount_file_system
# Nothing that follows means anything elsewhere.
[ $failed = 0 ] || finish
if [ "$(parameter stage)" = first ]; then
    mkdir /mnt/tmp
    check "a pool maps the NVDIMM directly" maps_directly
    check "and cannot elsewhere" maps_elsewhere
    for program in /tests/*; do
        [ "$program" = /tests/dax ] && continue
        check "tests of $(basename "$program")" run_tests "$(basename "$program")"
    done
    rm -rf /mnt/tmp
    check "the sample is compressed" sample
    for persist in phase operation; do
        for task in $tasks; do
            check "sample, $task, $persist" sample_answer "$task" "$persist"
        done
    done
    rm -f /mnt/sample.pool
    for persist in phase operation; do
        for task in $tasks; do
            check "kills, $task, $persist" killed "$task" "$persist"
        done
    done
else
    check "what was cut off" after_the_cut
    for task in $tasks; do
        check "after the cut, $task" answer "$task" operation
    done
fi
if [ "$(parameter end)" = cut ]; then
    say "$passed passed, $failed failed"
    work_until_cut
fi
finish
