"""The probe in a real server on the installed SDK: what it reports of sessions, by version."""

import contextlib
import threading
import unittest

import support
from support import INITIALIZE, INITIALIZED, PING, Client, Program, eventually, identity_drift

VERSION = support.sdk_version()
PATCHED = support.is_patched()
HAS_TIMEOUT = VERSION >= (1, 27)


class SessionsTest(unittest.TestCase):
    def serve(self, **settings):
        program = Program(**settings)
        program.__enter__()
        self.addCleanup(program.__exit__)
        return program, Client(program.port)

    def assertSettles(self, program, **counts):
        """Counting follows the answer; returns the report that has these counts."""

        def check():
            report = program.manager()
            self.assertEqual({name: report[name] for name in counts}, counts)
            return report

        return eventually(check)

    def test_a_session_and_its_deletion(self):
        program, client = self.serve()
        report = program.manager()
        self.assertEqual(report["registered"], 0)
        self.assertEqual("idleTimeout" in report["unsupportedSettings"], not HAS_TIMEOUT)
        self.assertEqual("maxSessions" in report["unsupportedSettings"], not PATCHED)
        self.assertEqual(report["idleTimeoutSeconds"], 1800 if PATCHED else None)
        self.assertEqual(report["sessionLimit"], 10000 if PATCHED else None)
        sdk = program.snapshot()["sdk"]
        self.assertEqual((sdk["package"], sdk["version"]), ("mcp", ".".join(map(str, VERSION))))

        session = client.open()
        client.status("POST", session, INITIALIZED)
        client.status("POST", session, PING)
        self.assertSettles(
            program, registered=1, registrations=1, removals=0, inFlight=0, requestsCompleted=3
        )
        self.assertIsNotNone(program.manager()["oldestIdleSeconds"])
        eventually(
            lambda: self.assertEqual(program.manager()["idleOlderThan"][0], {"seconds": 1, "sessions": 1})
        )

        self.assertEqual(client.status("DELETE", session), 200)
        if PATCHED:
            report = self.assertSettles(program, registered=0, removals=1, remnants=0, oldestIdleSeconds=None)
            self.assertEqual(report["endedSessionDurations"]["count"], 1)
            self.assertGreater(report["endedSessionDurations"]["sum"], 0)
        else:
            report = self.assertSettles(program, registered=1, removals=0, remnants=1, inFlight=0)
            self.assertIsNotNone(report["oldestIdleSeconds"])
        self.assertEqual(report["expirations"], 0)
        self.assertSettles(program, requestsCompleted=4)

    def test_refused_openings(self):
        program, client = self.serve()
        self.assertIn(client.status("GET", accept="text/html"), (400, 406))
        self.assertEqual(client.status("POST", message=PING), 400)
        self.assertIn(client.status("POST", message=INITIALIZE, accept="text/html"), (400, 406))
        left = 0 if PATCHED else 3
        self.assertSettles(
            program,
            registered=left,
            registrations=3,
            removals=3 - left,
            inFlight=0,
            streamsOpen=0,
            remnants=0,
            requestsCompleted=3,
        )
        self.assertIn(client.status("POST", "unknown", PING), (400, 404))
        self.assertSettles(program, registrations=3, requestsCompleted=4)

    @unittest.skipUnless(HAS_TIMEOUT, "this version has no idle timeout")
    def test_expiry(self):
        program, client = self.serve(session_idle_timeout=0.5)
        self.assertEqual(program.manager()["idleTimeoutSeconds"], 0.5)
        for _ in range(3):
            client.status("POST", client.open(), INITIALIZED)
        report = self.assertSettles(
            program, registered=0, registrations=3, removals=3, expirations=3, remnants=0
        )
        self.assertEqual(report["endedSessionDurations"]["count"], 3)
        self.assertIsNone(report["oldestIdleSeconds"])

    @unittest.skipUnless(HAS_TIMEOUT, "this version has no idle timeout")
    def test_a_deletion_is_no_expiry(self):
        program, client = self.serve(session_idle_timeout=60)
        client.status("DELETE", client.open())
        self.assertSettles(program, removals=1 if PATCHED else 0, expirations=0)

    @unittest.skipUnless(PATCHED, "this version has no session limit")
    def test_openings_over_the_cap(self):
        program, client = self.serve(max_sessions=2)
        first, _ = client.open(), client.open()
        self.assertEqual([client.status("POST", message=INITIALIZE) for _ in range(3)], [503] * 3)
        self.assertSettles(
            program, sessionLimit=2, registered=2, registrations=2, rejections=3, requestsCompleted=5
        )
        client.status("DELETE", first)
        client.open()
        self.assertSettles(program, registered=2, registrations=3, removals=1, rejections=3)

    def test_an_open_stream(self):
        program, client = self.serve()
        session = client.open()
        client.status("POST", session, INITIALIZED)
        response, connection = client.send("GET", session)
        with contextlib.closing(connection), contextlib.closing(response):
            self.assertEqual(response.status, 200)
            self.assertSettles(program, streamsOpen=1, inFlight=1, oldestIdleSeconds=None)
            self.assertEqual(client.status("POST", session, PING), 200)
            self.assertEqual(client.status("GET", session), 409)
            self.assertSettles(program, streamsOpen=1, inFlight=1, registered=1, requestsCompleted=4)
        self.assertSettles(program, streamsOpen=0, inFlight=0, registered=1, requestsCompleted=5)

    def test_a_deletion_with_an_open_stream(self):
        program, client = self.serve()
        session = client.open()
        client.status("POST", session, INITIALIZED)
        response, connection = client.send("GET", session)
        with contextlib.closing(connection), contextlib.closing(response):
            client.status("DELETE", session)
            self.assertSettles(program, streamsOpen=0, inFlight=0, registered=0 if PATCHED else 1)

    def test_a_call_that_the_client_drops_midway(self):
        program, client = self.serve()
        session = client.open()
        client.status("POST", session, INITIALIZED)
        response, connection = client.send("POST", session, support.call_wait(30))
        self.assertSettles(program, inFlight=1, streamsOpen=0, oldestIdleSeconds=None, requestsCompleted=2)
        response.close()
        connection.close()
        self.assertSettles(program, inFlight=0, registered=1, requestsCompleted=3)

    def test_stateless(self):
        program, client = self.serve(stateless=True)
        client.status("POST", message=INITIALIZE)
        # Before 1.12.0 nothing ended the server of a stateless request.
        left = 1 if support.sdk_version() < (1, 12) else 0
        self.assertSettles(
            program,
            stateless=True,
            registered=left,
            registrations=1,
            removals=1 - left,
            inFlight=0,
            requestsCompleted=1,
        )

    def test_changes_behind_our_back_show_as_drift(self):
        program, client = self.serve()
        client.open()
        client.control("put-unseen")
        self.assertEqual(identity_drift(program.snapshot()["managers"][0]), 1)
        client.control("take-unseen")
        client.control("take-unseen")
        self.assertEqual(identity_drift(program.snapshot()["managers"][0]), -1)
        client.control("replace")
        client.open()
        report = program.snapshot()["managers"][0]
        self.assertEqual((report["registered"], identity_drift(report)), (1, 0))
        client.open()
        report = program.snapshot()["managers"][0]
        self.assertEqual((report["registered"], identity_drift(report)), (2, 1))

    def test_every_snapshot_under_load_has_the_identity(self):
        program, client = self.serve()
        failures = []

        def live():
            try:
                for _ in range(15):
                    session = client.open()
                    client.status("POST", session, INITIALIZED)
                    client.status("DELETE", session)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=live) for _ in range(4)]
        for thread in threads:
            thread.start()
        seen = set()
        while any(thread.is_alive() for thread in threads):
            report = program.manager()
            seen.add(report["registrations"])
            self.assertLessEqual(report["inFlight"], report["registered"])
            self.assertLessEqual(report["remnants"], report["registered"])
        self.assertEqual(failures, [])
        self.assertGreater(len(seen), 5)
        left = 0 if PATCHED else 60
        self.assertSettles(
            program,
            registered=left,
            registrations=60,
            removals=60 - left,
            remnants=left,
            requestsCompleted=180,
        )

    def test_the_end_of_the_server(self):
        program, client = self.serve()
        client.open()
        program.stop()
        self.assertEqual(list(program.directory.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
