/* gauge.c - readings and calibrations of a tide gauge. */
#include "gauge.h"

#include <errno.h>
#include <stdlib.h>

#define DOUBTFUL_MM 500

static const struct gauge_reading *last_reading(const struct gauge *gauge)
{
	if (gauge->length == 0)
		return NULL;
	return &gauge->readings[(gauge->first + gauge->length - 1) % GAUGE_READINGS];
}

/* The newest calibration comes last; the oldest is dropped when there is no room. */
int gauge_calibrate(struct gauge *gauge, int32_t distance_mm, int32_t staff_mm)
{
	size_t i;

	if (gauge == NULL)
		return -EINVAL;
	if (gauge->calibrations == GAUGE_CALIBRATIONS) {
		for (i = 1; i < GAUGE_CALIBRATIONS; i++)
			gauge->offset_mm[i - 1] = gauge->offset_mm[i];
		gauge->calibrations--;
	}
	gauge->offset_mm[gauge->calibrations++] = staff_mm + distance_mm;
	return 0;
}

int gauge_undo_calibration(struct gauge *gauge)
{
	if (gauge == NULL)
		return -EINVAL;
	if (gauge->calibrations == 0)
		return -ENOENT;
	gauge->calibrations--;
	return 0;
}

bool gauge_is_doubtful(const struct gauge *gauge, int32_t level_mm)
{
	const struct gauge_reading *last = last_reading(gauge);

	return last != NULL && abs(level_mm - last->level_mm) > DOUBTFUL_MM;
}

/* Keeps a reading; the oldest is dropped after thirty days without a gateway. */
int gauge_read(struct gauge *gauge, int64_t time, int32_t distance_mm)
{
	struct gauge_reading reading = { .time = time, .mark = GAUGE_MARK_NONE };

	if (gauge == NULL)
		return -EINVAL;
	if (gauge->calibrations == 0)
		return -ENOENT;
	reading.level_mm = gauge->offset_mm[gauge->calibrations - 1] - distance_mm;
	if (gauge_is_doubtful(gauge, reading.level_mm))
		reading.mark |= GAUGE_MARK_DOUBTFUL;
	if (gauge->length == GAUGE_READINGS) {
		gauge->first = (gauge->first + 1) % GAUGE_READINGS;
		gauge->length--;
	}
	gauge->readings[(gauge->first + gauge->length) % GAUGE_READINGS] = reading;
	gauge->length++;
	return 0;
}

/* Sends the readings, oldest first, and forgets those that were sent. */
int gauge_send(struct gauge *gauge, int (*send)(const struct gauge_reading *reading))
{
	int error;

	if (gauge == NULL || send == NULL)
		return -EINVAL;
	while (gauge->length > 0) {
		error = send(&gauge->readings[gauge->first]);
		if (error) {
			gauge->readings[gauge->first].mark |= GAUGE_MARK_LATE;
			return error;
		}
		gauge->first = (gauge->first + 1) % GAUGE_READINGS;
		gauge->length--;
	}
	return 0;
}
