/* param_rows.h - the rows of parameters that a table has, one each. What includes this says first
 * which table, and which struct has the fields:
 *
 *     static const struct param radish_params[] = {
 *     #define PARAMS_DEF "policy/radish/params.def"
 *     #define PARAMS_OF struct radish_params
 *     #include "base/param_rows.h"
 *     };
 */
#ifdef PARAMS_DEF
#define ROW(field, name, type, value, min, max, unit, choices, help)                               \
    {name, type, offsetof(PARAMS_OF, field), value, min, max, unit, choices, help},
#define NUMBER(field, name, value, min, max, unit, help)                                           \
    ROW(field, name, PARAM_U64, value, min, max, unit, NULL, help)
#define SWITCH(field, name, value, help) ROW(field, name, PARAM_BOOL, value, 0, 0, "", NULL, help)
#define CHOICE(field, name, value, choices, help)                                                  \
    ROW(field, name, PARAM_CHOICE, value, 0, 0, "", choices, help)
#define SET(field, name, value, choices, help)                                                     \
    ROW(field, name, PARAM_SET, value, 0, 0, "", choices, help)
#define TEXT(field, name, value, help) ROW(field, name, PARAM_STRING, value, 0, 0, "", NULL, help)
#include PARAMS_DEF
PARAM_END,
#undef ROW
#undef NUMBER
#undef SWITCH
#undef CHOICE
#undef SET
#undef TEXT
#undef PARAMS_DEF
#undef PARAMS_OF
#endif
