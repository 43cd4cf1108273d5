/* cost.h - all that a software policy charges with. */
#ifndef LARDSIM_COST_H
#define LARDSIM_COST_H

#include "policy/frame/clock_cost.h"
#include "policy/frame/ledger.h"
#include "policy/frame/metadata.h"

#endif
