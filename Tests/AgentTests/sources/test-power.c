/* Battery, lid and power profiles. */
#include "mock.h"

#define UPOWER "org.freedesktop.UPower"
#define UPOWER_PATH "/org/freedesktop/UPower"
#define PROFILES "net.hadess.PowerProfiles"
#define PROFILES_PATH "/net/hadess/PowerProfiles"

TEST_ON_BUS(thePowerSourceHasAState)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "upower", UPOWER);
        int plugged = stage_hear(&stage, "com.apple.springboard.pluggedin");
        int source = stage_hear(&stage, "com.apple.system.powersources.source");
        agent_start(&stage);

        /* Those who were there before hear what is so. */
        stage_expect(&stage, source);
        stage_expect(&stage, plugged);
        CHECK_EQ(state_of(plugged), 1);
        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "OnBattery", "b", 1);
        stage_expect(&stage, source);
        stage_expect(&stage, plugged);
        CHECK_EQ(state_of(plugged), 0);
        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "OnBattery", "b", 0);
        stage_expect(&stage, source);
        stage_expect(&stage, plugged);
        CHECK_EQ(state_of(plugged), 1);
}

TEST_ON_BUS(theLidHasAState)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "upower", UPOWER);
        agent_start(&stage);
        int lid = stage_hear(&stage, "com.apple.system.powermanagement.clamshellstate");

        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "LidIsClosed", "b", 1);
        stage_expect(&stage, lid);
        CHECK_EQ(state_of(lid), 1);
        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "LidIsClosed", "b", 0);
        stage_expect(&stage, lid);
        CHECK_EQ(state_of(lid), 0);
}

TEST_ON_BUS(savingPowerHasAState)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "power_profiles_daemon", PROFILES);
        agent_start(&stage);
        int saving = stage_hear(&stage, "com.apple.system.lowpowermode");

        mock_set(&mock, PROFILES, PROFILES_PATH, PROFILES, "ActiveProfile", "s", "performance");
        mock_set(&mock, PROFILES, PROFILES_PATH, PROFILES, "ActiveProfile", "s", "power-saver");
        stage_expect(&stage, saving);
        CHECK_EQ(state_of(saving), 1);
        mock_set(&mock, PROFILES, PROFILES_PATH, PROFILES, "ActiveProfile", "s", "balanced");
        stage_expect(&stage, saving);
        CHECK_EQ(state_of(saving), 0);
}

#define NEW_PROFILES "org.freedesktop.UPower.PowerProfiles"
#define NEW_PROFILES_PATH "/org/freedesktop/UPower/PowerProfiles"

TEST_ON_BUS(newerPowerProfilesAreHeardWhenTheyAppear)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        agent_start(&stage);
        int saving = stage_hear(&stage, "com.apple.system.lowpowermode");

        mock_start_empty(&mock, NEW_PROFILES, NEW_PROFILES_PATH, NEW_PROFILES);
        mock_call(&mock, NEW_PROFILES, NEW_PROFILES_PATH, MOCK, "AddProperty", "ssv", NEW_PROFILES,
                  "ActiveProfile", "s", "balanced");
        mock_set(&mock, NEW_PROFILES, NEW_PROFILES_PATH, NEW_PROFILES, "ActiveProfile", "s",
                 "power-saver");
        stage_expect(&stage, saving);
        CHECK_EQ(state_of(saving), 1);
}

TEST_MAIN()
