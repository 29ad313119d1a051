// Times requests of one process to another by sdbus-c++: an object with a method, whose event loop
// answers, and a proxy.
//
//     sdbus-calls smoke|quick|full
#include <sdbus-c++/sdbus-c++.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "figures.h"

static const char name[] = "org.example.Bench.SdbusCpp";
static const char path[] = "/org/example/Bench/SdbusCpp";
static const char interface[] = "org.example.Bench";

using Info = std::map<std::string, sdbus::Variant>;

static void serve(int ready)
{
        auto connection = sdbus::createSessionBusConnection(name);
        auto object = sdbus::createObject(*connection, path);

        object->registerMethod("Echo").onInterface(interface).implementedAs([](const Info &info) {
                return sdbus::Variant{info.at("text").get<std::string>()};
        });
        object->finishRegistration();
        must((int)write(ready, "r", 1), "write");
        connection->enterEventLoop();
}

static std::unique_ptr<sdbus::IProxy> proxy;
static std::atomic<unsigned> n_done;

static void read_reply(const sdbus::Variant &reply)
{
        must(reply.get<std::string>() == "blue" ? 0 : -EIO, "reply");
}

static void one()
{
        sdbus::Variant reply;

        proxy->callMethod("Echo").onInterface(interface).withArguments(
                Info{{"text", std::string("blue")}}).storeResultsTo(reply);
        read_reply(reply);
}

static void many()
{
        n_done = 0;
        for (unsigned i = 0; i < n_calls; i++)
                proxy->callMethodAsync("Echo")
                        .onInterface(interface)
                        .withArguments(Info{{"text", std::string("blue")}})
                        .uponReplyInvoke([](const sdbus::Error *error, sdbus::Variant reply) {
                                must(error ? -EIO : 0, "call");
                                read_reply(reply);
                                n_done++;
                                n_done.notify_one();
                        });
        for (unsigned n; (n = n_done) < n_calls;)
                n_done.wait(n);
}

int main(int argc, char **argv)
{
        read_mode(argc, argv);
        start(serve);
        proxy = sdbus::createProxy(sdbus::createSessionBusConnection(), name, path);
        print_figures("sdbus-c++", one, many);
        return 0;
}
