/* lardx86.c - the table of instructions, and its text. */
#include "base/mem.h"
#include "isa/lardx86/lardx86.h"

const struct lx_info lx_info[LX_OPS] = {
#define LX(NAME, text_, form_, byte_, a, b, c, page_, paper_, help_)                               \
    [LX_##NAME] = {.text = text_,                                                                  \
                   .operand = {a, b, c},                                                           \
                   .paper = paper_,                                                                \
                   .help = help_,                                                                  \
                   .form = LX_FORM_##form_,                                                        \
                   .byte = byte_,                                                                  \
                   .page = LX_PAGE_##page_},
#include "isa/lardx86/lardx86.def"
#undef LX
};

char *lx_operands_text(enum lx_op op)
{
    const char *const *o = lx_info[op].operand;

    return xasprintf("%s%s%s%s%s", o[0], o[1] ? ", " : "", o[1] ? o[1] : "", o[2] ? ", " : "",
                     o[2] ? o[2] : "");
}

char *lx_encoding_text(enum lx_op op)
{
    static const char *const after[] = {
        [LX_FORM_R] = "/0", [LX_FORM_RR] = "/r", [LX_FORM_RRR] = "/r /is4"};
    const struct lx_info *k = &lx_info[op];

    if (k->form == LX_FORM_PREFIX)
        return xasprintf("%02X before the access", k->byte);
    return xasprintf("0F 0C %02X %s", k->byte, after[k->form]);
}

const char *lx_page_text(enum lx_page p)
{
    static const char *const text[] = {[LX_PAGE_NONE] = "none",
                                       [LX_PAGE_REGION] = "the region",
                                       [LX_PAGE_BOTH] = "source and destination, each"};

    return text[p];
}
