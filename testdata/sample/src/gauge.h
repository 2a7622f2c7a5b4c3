/* gauge.h - what a tide gauge knows about itself. */
#ifndef GAUGE_H
#define GAUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GAUGE_CALIBRATIONS 10
#define GAUGE_READINGS     43200 /* thirty days of one reading a minute */

enum gauge_mark {
	GAUGE_MARK_NONE = 0,
	GAUGE_MARK_LATE = 1,
	GAUGE_MARK_DOUBTFUL = 2,
};

struct gauge_reading {
	int64_t time;       /* seconds since the epoch, UTC */
	int32_t level_mm;   /* water level above chart datum */
	uint8_t mark;       /* enum gauge_mark, combined */
};

struct gauge {
	int32_t offset_mm[GAUGE_CALIBRATIONS];
	size_t calibrations;
	struct gauge_reading readings[GAUGE_READINGS];
	size_t first;
	size_t length;
};

int gauge_calibrate(struct gauge *gauge, int32_t distance_mm, int32_t staff_mm);
int gauge_undo_calibration(struct gauge *gauge);
int gauge_read(struct gauge *gauge, int64_t time, int32_t distance_mm);
int gauge_send(struct gauge *gauge, int (*send)(const struct gauge_reading *reading));
bool gauge_is_doubtful(const struct gauge *gauge, int32_t level_mm);

#endif
