/* Typed setters for property lists under construction. */
#include <string.h>

#include "darwinnotify/dict.h"

void dn_dict_builder_set_string(dn_dict_builder *builder, const char *key, const char *string)
{
        dn_dict_builder_set(builder, key,
                            &(dn_value){ DN_TYPE_STRING, string ? strlen(string) : 0,
                                         { .string = string } });
}

void dn_dict_builder_set_bool(dn_dict_builder *builder, const char *key, bool boolean)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_BOOL, 0, { .boolean = boolean } });
}

void dn_dict_builder_set_int64(dn_dict_builder *builder, const char *key, int64_t number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_INT64, 0, { .int64 = number } });
}

void dn_dict_builder_set_uint64(dn_dict_builder *builder, const char *key, uint64_t number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_UINT64, 0, { .uint64 = number } });
}

void dn_dict_builder_set_double(dn_dict_builder *builder, const char *key, double number)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DOUBLE, 0, { .real = number } });
}

void dn_dict_builder_set_data(dn_dict_builder *builder, const char *key, const void *data,
                              size_t n_bytes)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DATA, n_bytes, { .data = data } });
}

void dn_dict_builder_set_date(dn_dict_builder *builder, const char *key, int64_t date_us)
{
        dn_dict_builder_set(builder, key, &(dn_value){ DN_TYPE_DATE, 0, { .date_us = date_us } });
}
