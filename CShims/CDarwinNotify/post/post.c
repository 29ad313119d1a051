/* A post, as passed from the public function that makes it to the observers that receive it. */
#include "post/post.h"

#include <string.h>

/* Includes the NUL; 0 for NULL. */
static size_t count_text(const char *text)
{
        return text ? strlen(text) + 1 : 0;
}

size_t dn__post_count_bytes(const dn__post *post)
{
        return post->name.n_bytes + 1 + count_text(post->body.object) +
               count_text(post->origin.sender);
}

/* Copies a string to the end of the previous one. */
static const char *copy_text(const char *text, char **bytes)
{
        size_t n_bytes = count_text(text);
        char *copy = *bytes;

        if (!n_bytes)
                return NULL;
        *bytes += n_bytes;
        return memcpy(copy, text, n_bytes);
}

dn__post dn__post_copy(const dn__post *post, char *bytes)
{
        dn__post copy = *post;

        copy.name = dn__name_copy(&post->name, bytes);
        bytes += post->name.n_bytes + 1;
        copy.body.object = copy_text(post->body.object, &bytes);
        copy.body.user_info = dn_dict_ref(post->body.user_info);
        copy.origin.sender = copy_text(post->origin.sender, &bytes);
        return copy;
}

void dn__post_release(dn__post *post)
{
        post->body.user_info = dn_dict_unref(post->body.user_info);
}
