/* GNUstep's NSDistributedNotificationCenter, the nearest relative: posts go through gdnc.
 *
 * Not D-Bus: gdnc is called by Distributed Objects over message ports and posting waits for its
 * answer; notifications arrive in the run loop. A flood makes the port of a receiver overflow. */
#import <Foundation/Foundation.h>
#include <bench.h>

@interface Observer : NSObject {
@public
        bench_heard heard;
        void *context;
}
- (void)notice:(NSNotification *)notification;
@end

@implementation Observer
- (void)notice:(NSNotification *)notification
{
        heard(context, 1);
}
@end

static NSMutableArray *observers;

static int open_center(void)
{
        [NSAutoreleasePool new]; /* for what is made once */
        observers = [NSMutableArray new];
        return [NSDistributedNotificationCenter defaultCenter] ? 0 : -1;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        Observer *observer = [Observer new];

        observer->heard = heard;
        observer->context = context;
        [observers addObject:observer];
        [[NSDistributedNotificationCenter defaultCenter]
                       addObserver:observer
                          selector:@selector(notice:)
                              name:[NSString stringWithUTF8String:name]
                            object:nil
                suspensionBehavior:NSNotificationSuspensionBehaviorDeliverImmediately];
        return 0;
}

static int post(const char *name)
{
        NSAutoreleasePool *pool = [NSAutoreleasePool new];

        [[NSDistributedNotificationCenter defaultCenter]
                postNotificationName:[NSString stringWithUTF8String:name]
                              object:nil
                            userInfo:nil
                  deliverImmediately:YES];
        [pool drain];
        return 0;
}

static int process(int timeout_ms)
{
        NSAutoreleasePool *pool = [NSAutoreleasePool new];

        [[NSRunLoop currentRunLoop]
                   runMode:NSDefaultRunLoopMode
                beforeDate:[NSDate dateWithTimeIntervalSinceNow:timeout_ms / 1000.0]];
        [pool drain];
        return 0;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_center, .observe = observe, .post = post,
                                        .process = process};

        return bench_main(argc, argv, &peer);
}
