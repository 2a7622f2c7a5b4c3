/* Kernels that are measured and not used: what it costs to start one. */

/* Moves 4 bytes. */
KERNEL count_launch(GLOBAL u32 *launches)
{
    if (LANE_OF_ALL == 0)
        launches[0] += 1;
}
