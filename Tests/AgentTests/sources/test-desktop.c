/* The lock, the screen and the theme. */
#include "mock.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define SESSION_PATH LOGIN_PATH "/session/c1"

/* Makes the user, whose number the GetUser() of the template cannot take, and a session. */
static void log_in(const mock *mock)
{
        const char *user = FORMAT(LOGIN_PATH "/user/%u", getuid());

        mock_call(mock, LOGIN, LOGIN_PATH, MOCK, "AddMethod", "sssss", LOGIN ".Manager", "GetUser",
                  "u", "o", FORMAT("ret = dbus.ObjectPath('%s')", user));
        mock_call(mock, LOGIN, LOGIN_PATH, MOCK, "AddObject", "ssa{sv}a(ssss)", user,
                  LOGIN ".User", 2, "Display", "(so)", "c1", SESSION_PATH, "Sessions", "a(so)", 0,
                  0);
        mock_call(mock, LOGIN, LOGIN_PATH, MOCK, "AddSession", "ssusb", "c1", "seat0", getuid(),
                  "somebody", 1);
        mock_call(mock, LOGIN, LOGIN_PATH, MOCK, "EmitSignal", "sssav", LOGIN ".Manager",
                  "SessionNew", "so", 2, "s", "c1", "o", SESSION_PATH);
}

static void lock(const mock *mock, int is_locked)
{
        mock_call(mock, LOGIN, SESSION_PATH, LOGIN ".Session", "SetLockedHint", "b", is_locked);
}

TEST_ON_BUS(theLockHasItsNamesAndStates)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "logind", LOGIN);
        agent_start(&stage);
        int locked = stage_hear(&stage, "com.apple.sessionagent.screenIsLocked");
        int unlocked = stage_hear(&stage, "com.apple.sessionagent.screenIsUnlocked");
        int state = stage_hear(&stage, "com.apple.springboard.lockstate");
        int complete = stage_hear(&stage, "com.apple.springboard.lockcomplete");
        heard is_locked = {0}, is_unlocked = {0};
        mock_hear_distributed(&is_locked, "com.apple.screenIsLocked");
        mock_hear_distributed(&is_unlocked, "com.apple.screenIsUnlocked");
        log_in(&mock);

        lock(&mock, 1);
        stage_expect(&stage, locked);
        stage_expect(&stage, state);
        stage_expect(&stage, complete);
        CHECK_EQ(state_of(locked), 1);
        CHECK_EQ(state_of(state), 1);
        WAIT_UNTIL_EQ(is_locked.n, 1);
        lock(&mock, 0);
        stage_expect(&stage, unlocked);
        stage_expect(&stage, state);
        CHECK_EQ(state_of(locked), 0);
        CHECK_EQ(state_of(state), 0);
        WAIT_UNTIL_EQ(is_unlocked.n, 1);
        CHECK_EQ(is_locked.n, 1);
}

TEST_ON_BUS(wakingMakesAllSourcesLookAgain)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "logind", LOGIN);
        log_in(&mock);
        agent_start(&stage);
        int locked = stage_hear(&stage, "com.apple.sessionagent.screenIsLocked");

        /* No signal says so. */
        mock_call(&mock, LOGIN, SESSION_PATH, MOCK, "AddProperty", "ssv", LOGIN ".Other", "Some",
                  "b", 1);
        mock_call(&mock, LOGIN, SESSION_PATH, MOCK, "AddMethod", "sssss", LOGIN ".Session",
                  "LockSilently", "", "", "self.props['" LOGIN ".Session']['LockedHint'] = True");
        mock_call(&mock, LOGIN, SESSION_PATH, LOGIN ".Session", "LockSilently", "");
        mock_call(&mock, LOGIN, LOGIN_PATH, MOCK, "EmitSignal", "sssav", LOGIN ".Manager",
                  "PrepareForSleep", "b", 1, "b", 0);
        stage_expect(&stage, locked);
        CHECK_EQ(state_of(locked), 1);
}

#define SAVER "org.gnome.ScreenSaver"
#define SAVER_PATH "/org/gnome/ScreenSaver"

static void check_saver(const mock *mock, stage *stage, const char *name, const char *path)
{
        int blanked = stage_hear(stage, "com.apple.springboard.hasBlankedScreen");
        int display = stage_hear(stage, "com.apple.iokit.hid.displayStatus");
        static heard started, stopping, stopped;

        mock_hear_distributed(&started, "com.apple.screensaver.didstart");
        mock_hear_distributed(&stopping, "com.apple.screensaver.willstop");
        mock_hear_distributed(&stopped, "com.apple.screensaver.didstop");
        WAIT_UNTIL_EQ(state_of(display), 1);
        while (stage_next(stage, 100))
                ;
        mock_call(mock, name, path, name, "SetActive", "b", 1);
        stage_expect(stage, blanked);
        stage_expect(stage, display);
        CHECK_EQ(state_of(blanked), 1);
        CHECK_EQ(state_of(display), 0);
        WAIT_UNTIL_EQ(started.n, 1);
        CHECK_EQ(stopped.n, 0);
        mock_call(mock, name, path, name, "SetActive", "b", 0);
        stage_expect(stage, blanked);
        stage_expect(stage, display);
        CHECK_EQ(state_of(display), 1);
        WAIT_UNTIL_EQ(stopping.n, 1);
        WAIT_UNTIL_EQ(stopped.n, 1);
}

TEST_ON_BUS(theScreenSaverOfGnomeIsHeard)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "gnome_screensaver", SAVER);
        agent_start(&stage);
        check_saver(&mock, &stage, SAVER, SAVER_PATH);
}

#define OTHER_SAVER "org.freedesktop.ScreenSaver"
#define OTHER_SAVER_PATH "/org/freedesktop/ScreenSaver"

static void make_saver(const mock *mock)
{
        mock_call(mock, OTHER_SAVER, OTHER_SAVER_PATH, MOCK, "AddMethod", "sssss", OTHER_SAVER,
                  "GetActive", "", "b", "ret = getattr(self, 'is_active', False)");
        mock_call(mock, OTHER_SAVER, OTHER_SAVER_PATH, MOCK, "AddMethod", "sssss", OTHER_SAVER,
                  "SetActive", "b", "",
                  "self.is_active = args[0]; self.EmitSignal('" OTHER_SAVER
                  "', 'ActiveChanged', 'b', [args[0]])");
        mock_call(mock, OTHER_SAVER, OTHER_SAVER_PATH, OTHER_SAVER, "SetActive", "b", 0);
}

TEST_ON_BUS(otherScreenSaversAreHeard)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        test_child *saver = mock_start_empty(&mock, OTHER_SAVER, OTHER_SAVER_PATH, OTHER_SAVER);
        make_saver(&mock);
        agent_start(&stage);
        check_saver(&mock, &stage, OTHER_SAVER, OTHER_SAVER_PATH);

        /* One that dies while it is active is active no longer. */
        int blanked = stage_hear(&stage, "com.apple.springboard.hasBlankedScreen");
        mock_call(&mock, OTHER_SAVER, OTHER_SAVER_PATH, OTHER_SAVER, "SetActive", "b", 1);
        WAIT_UNTIL_EQ(state_of(blanked), 1);
        test_child_kill(saver);
        WAIT_UNTIL_EQ(state_of(blanked), 0);
}

#define PORTAL "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define SETTINGS "org.freedesktop.portal.Settings"

TEST_ON_BUS(theThemeIsHeard)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        heard theme = {0};
        mock_start_empty(&mock, PORTAL, PORTAL_PATH, SETTINGS);
        mock_call(&mock, PORTAL, PORTAL_PATH, MOCK, "AddMethod", "sssss", SETTINGS, "Read", "ss",
                  "v",
                  "ret = dbus.UInt32(getattr(self, 'scheme', 0), variant_level=2)");
        mock_call(&mock, PORTAL, PORTAL_PATH, MOCK, "AddMethod", "sssss", SETTINGS, "Choose", "u",
                  "", "self.scheme = args[0]; self.EmitSignal('" SETTINGS
                      "', 'SettingChanged', 'ssv', ['org.freedesktop.appearance', 'color-scheme', "
                      "dbus.UInt32(args[0], variant_level=1)])");
        agent_start(&stage);
        mock_hear_distributed(&theme, "AppleInterfaceThemeChangedNotification");

        mock_call(&mock, PORTAL, PORTAL_PATH, SETTINGS, "Choose", "u", 1);
        WAIT_UNTIL_EQ(theme.n, 1);
        mock_call(&mock, PORTAL, PORTAL_PATH, SETTINGS, "Choose", "u", 1);
        mock_call(&mock, PORTAL, PORTAL_PATH, SETTINGS, "Choose", "u", 2);
        WAIT_UNTIL_EQ(theme.n, 2);
        mock_call(&mock, PORTAL, PORTAL_PATH, SETTINGS, "Choose", "u", 0); /* as bright as before */
        mock_call(&mock, PORTAL, PORTAL_PATH, SETTINGS, "Choose", "u", 1);
        WAIT_UNTIL_EQ(theme.n, 3);
}

TEST_MAIN()
