/* An intrusive doubly linked list. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A link in an element, or the head of a list. The head of an empty list links to itself; an
 * element in no list has NULL links. */
typedef struct dn__link {
        struct dn__link *previous;
        struct dn__link *next;
} dn__link;

#define DN__CONTAINER(pointer, type, member) \
        ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

/* DN__LIST_EACH(element_type, element, &head, link) ... visits the elements, none of which may be
 * removed meanwhile. */
#define DN__LIST_EACH(type, element, head, member)                                                 \
        for (type *element = DN__CONTAINER((head)->next, type, member);                            \
             &element->member != (head);                                                           \
             element = DN__CONTAINER(element->member.next, type, member))

/* DN__LIST_FIRST(element_type, &head, link) is the first element, or NULL. */
#define DN__LIST_FIRST(type, head, member)                                                         \
        (dn__list_is_empty(head) ? NULL : DN__CONTAINER((head)->next, type, member))

static inline void dn__list_init(dn__link *head)
{
        head->previous = head;
        head->next = head;
}

static inline bool dn__list_is_empty(const dn__link *head)
{
        return head->next == head;
}

static inline bool dn__link_is_linked(const dn__link *link)
{
        return link->next != NULL;
}

/* Inserts an element after another one, or after the head, that is at the front. */
static inline void dn__list_insert(dn__link *behind, dn__link *link)
{
        link->previous = behind;
        link->next = behind->next;
        behind->next->previous = link;
        behind->next = link;
}

static inline void dn__list_append(dn__link *head, dn__link *link)
{
        dn__list_insert(head->previous, link);
}

/* Moves all elements of a list, perhaps the same one, to the end of another. */
static inline void dn__list_append_all(dn__link *head, dn__link *from)
{
        if (from == head || dn__list_is_empty(from))
                return;
        from->next->previous = head->previous;
        from->previous->next = head;
        head->previous->next = from->next;
        head->previous = from->previous;
        dn__list_init(from);
}

/* Moves all elements to another list, which need not be initialized. */
static inline void dn__list_move(dn__link *from, dn__link *ret_to)
{
        dn__list_init(ret_to);
        if (dn__list_is_empty(from))
                return;
        *ret_to = *from;
        ret_to->previous->next = ret_to;
        ret_to->next->previous = ret_to;
        dn__list_init(from);
}

/* Does nothing for an element not in a list. */
static inline void dn__list_remove(dn__link *link)
{
        if (!link->next)
                return;
        link->previous->next = link->next;
        link->next->previous = link->previous;
        link->previous = NULL;
        link->next = NULL;
}
