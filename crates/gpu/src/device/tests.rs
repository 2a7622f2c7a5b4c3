//! The device itself, on whatever OpenCL finds (PoCL where there is no GPU).

use super::*;

static MODULE: Module = Module {
    name: "device_tests",
    source: r"
KERNEL add_up(GLOBAL const u32 *values, GLOBAL u64 *sums, GLOBAL u32 *seen, u32 count, u64 more)
{
    LOCAL_ARRAY(u32, scratch, GROUP);
    u64 place = LANE_OF_ALL;
    u32 total;
    u32 before = group_sum_before(place < count ? values[place] : 0, scratch, &total);
    if (place < count)
        sums[place] = before + more;
    if (LANE == 0)
        add_u32(&seen[0], total);
}
",
};
const ADD_UP: Kernel = Kernel { module: &MODULE, name: "add_up" };

fn device() -> Option<Arc<Device>> {
    crate::testing::device()
}

#[test]
fn values_come_back() {
    let Some(device) = device() else { return };
    let values: Vec<u32> = (0..5_000_000).collect();
    let buffer = device.upload(&values).unwrap();
    assert_eq!(device.download(&buffer).unwrap(), values);
    assert_eq!(device.download_part(&buffer, 17..20).unwrap(), [17, 18, 19]);
    device.write(&buffer, 18, &[7, 8]).unwrap();
    device.fill(&buffer, 20..21, 0xff).unwrap();
    device.copy(&buffer, 18, &buffer, 100, 3).unwrap();
    assert_eq!(device.download_part(&buffer, 17..21).unwrap(), [17, 7, 8, u32::MAX]);
    assert_eq!(device.download_part(&buffer, 99..104).unwrap(), [99, 7, 8, u32::MAX, 103]);
    assert_eq!(device.download(&device.upload::<u8>(&[]).unwrap()).unwrap(), []);
}

#[test]
fn a_kernel_runs_and_is_timed() {
    let Some(device) = device() else { return };
    let values = device.upload(&[3_u32; 700]).unwrap();
    let sums = device.allocate::<u64>(700).unwrap();
    let seen = device.zeroed::<u32>(1).unwrap();
    let start = device.mark().unwrap();
    let arguments =
        [(&values).into(), (&sums).into(), (&seen).into(), 700_u32.into(), 5_u64.into()];
    device.launch(&ADD_UP, groups_for(700), &arguments).unwrap();
    let end = device.mark().unwrap();
    assert_eq!(device.value(&seen, 0).unwrap(), 2100);
    let expected: Vec<u64> = (0..700).map(|place| place % 256 * 3 + 5).collect();
    assert_eq!(device.download(&sums).unwrap(), expected);
    assert!(end.since(&start).unwrap() > Duration::ZERO);
}

#[test]
fn launches_are_profiled() {
    let Some(device) = crate::testing::open() else { return };
    let values = device.upload(&[3_u32; 700]).unwrap();
    let sums = device.allocate::<u64>(700).unwrap();
    let seen = device.zeroed::<u32>(1).unwrap();
    device.start_profile();
    for _ in 0..3 {
        let arguments =
            [(&values).into(), (&sums).into(), (&seen).into(), 700_u32.into(), 5_u64.into()];
        device.launch(&ADD_UP, groups_for(700), &arguments).unwrap();
    }
    let times = device.take_profile().unwrap();
    assert_eq!(
        (times.len(), times[0].kernel, times[0].launches),
        (1, ("device_tests", "add_up"), 3)
    );
    assert!(times[0].time > Duration::ZERO);
    assert_eq!(device.take_profile().unwrap(), []);
}

#[test]
fn what_is_not_there_is_told() {
    let error = Device::open(Some("no such device")).unwrap_err();
    assert!(error.to_string().contains("none is called `no such device`"), "{error}");
    let Some(device) = device() else { return };
    let needed = device.free_memory().unwrap() as usize + 1;
    let error = device.allocate::<u8>(needed).unwrap_err();
    assert!(matches!(error, Error::TooLittleMemory { .. }), "{error}");
    static WRONG: Module = Module { name: "wrong", source: "\nKERNEL wrong(u32 count) { no; }" };
    let error = device.prepare(&WRONG).unwrap_err();
    assert!(matches!(error, Error::Compile { module: "wrong", .. }), "{error}");
}
