/* Copies of posts. */
#include "post/post.h"

#include <stdlib.h>

#include "darwinnotify/dict.h"
#include "test.h"

TEST_NO_BUS(aCopyOutlivesTheStringsOfItsOriginal)
{
        char name[] = "com.example.name", object[] = "object", sender[] = ":1.7";
        dn__post post = { .origin.sender = sender, .body.object = object, .generation = 3 };
        dn__post copy;
        size_t n_bytes;
        char *bytes;

        CHECK_EQ(dn__name_init(&post.name, name, DN__REACH_BEYOND), 0);
        n_bytes = dn__post_count_bytes(&post);
        CHECK_EQ(n_bytes, sizeof(name) + sizeof(object) + sizeof(sender));
        bytes = malloc(n_bytes); /* a sanitizer sees a byte too many */
        CHECK(bytes);
        copy = dn__post_copy(&post, bytes);
        memset(name, 'x', sizeof(name) - 1);
        memset(object, 'x', sizeof(object) - 1);
        memset(sender, 'x', sizeof(sender) - 1);
        CHECK_STREQ(copy.name.text, "com.example.name");
        CHECK_EQ(copy.name.hash, post.name.hash);
        CHECK_STREQ((const char *)copy.body.object, "object");
        CHECK_STREQ(copy.origin.sender, ":1.7");
        CHECK_EQ(copy.generation, 3);
        dn__post_release(&copy);
        free(bytes);
}

TEST_NO_BUS(aCopyLacksWhatItsPostLacks)
{
        dn__post post = { 0 }, copy;
        char bytes[2];

        CHECK_EQ(dn__name_init(&post.name, "a", DN__REACH_BEYOND), 0);
        CHECK_EQ(dn__post_count_bytes(&post), sizeof(bytes));
        copy = dn__post_copy(&post, bytes);
        CHECK_STREQ(copy.name.text, "a");
        CHECK(!copy.body.object && !copy.body.user_info && !copy.origin.sender);
        dn__post_release(&copy);
}

TEST_NO_BUS(aCopyHasItsOwnReferenceToTheUserInfo)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn__post post = { 0 }, copy;
        dn_dict *user_info;
        char bytes[2];

        CHECK(builder);
        dn_dict_builder_set_int64(builder, "key", 42);
        CHECK_EQ(dn_dict_builder_finish(builder, &user_info), 0);
        CHECK_EQ(dn__name_init(&post.name, "a", DN__REACH_BEYOND), 0);
        post.body.user_info = user_info;
        copy = dn__post_copy(&post, bytes);
        dn_dict_unref(user_info);
        CHECK_EQ(dn_dict_get_int64(copy.body.user_info, "key", 0), 42);
        dn__post_release(&copy);
        CHECK(!copy.body.user_info);
}

TEST_MAIN()
