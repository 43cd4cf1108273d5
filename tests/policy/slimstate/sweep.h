/* sweep.h - random streams of programs on arrays: threads that sweep over elements in blocks, in
 * strides, whole, backwards, in phases between barriers or under locks, mostly without a race; now
 * and then a sweep that keeps to nothing, accesses that are not just an element, transactions, and
 * arrays that are moved, slid, cleared, made again in other shapes. */
#ifndef LARDSIM_TESTS_SWEEP_H
#define LARDSIM_TESTS_SWEEP_H

#include "base/rng.h"
#include "tests/frame/verdict.h"

/* Adds some hundred events, lawful ones. Regions of heap events are aligned to 16 bytes. */
void sweep_draw(struct rng *r, struct stream *s);

#endif
