"""The counts of a manager, on classes of the SDK's shape that are wrapped in this process."""

import asyncio
import gc
import os
import threading
import unittest
import weakref
from unittest import mock

import support
from mcp_retention_probe import attach, problems, snapshot, watching
from mcp_retention_probe.manager import Session
from mcp_retention_probe.registry import lock

GET = {"type": "http", "method": "GET", "session": "a"}
POST = {"type": "http", "method": "POST", "session": "a"}


class CountsTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        # Nothing is to be listened on here, only counted.
        quiet = mock.patch.dict(os.environ)
        quiet.start()
        self.addCleanup(quiet.stop)
        for name in [name for name in os.environ if name.startswith("MCP_RETENTION_")]:
            del os.environ[name]
        problems._problems.clear()
        watching._watches.clear()
        self.module = support.load_fake_module()
        attach.attach(self.module)
        self.manager = self.module.StreamableHTTPSessionManager()

    def transport(self, serve=None):
        return self.module.StreamableHTTPServerTransport(serve)

    def report(self):
        taken = snapshot.take()
        self.assertEqual(taken["problems"], [])
        self.assertTrue(taken["supported"])
        return taken["managers"][0]

    def assertReports(self, **counts):
        report = self.report()
        self.assertEqual({name: report[name] for name in counts}, counts)
        self.assertEqual(support.identity_drift(report), 0)

    async def serve(self, scope=POST):
        """A request that runs until its event is set; returns (event, task)."""
        release = asyncio.Event()
        running = asyncio.Event()

        async def serving(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            running.set()
            await release.wait()

        self.manager._server_instances.setdefault("a", self.transport())._serve = serving
        task = asyncio.create_task(self.manager.handle_request(scope, None, _swallow))
        await running.wait()
        return release, task

    async def test_a_session_counts_once_however_many_requests_it_serves(self):
        first, one = await self.serve()
        second, two = await self.serve()
        self.assertReports(registered=1, inFlight=1, oldestIdleSeconds=None, requestsCompleted=0)
        first.set()
        await one
        self.assertReports(inFlight=1, oldestIdleSeconds=None, requestsCompleted=1)
        second.set()
        await two
        self.assertReports(inFlight=0, requestsCompleted=2)
        self.assertIsNotNone(self.report()["oldestIdleSeconds"])

    async def test_a_cancelled_request_is_in_flight_no_longer(self):
        _, task = await self.serve(GET)
        self.assertReports(inFlight=1, streamsOpen=1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertReports(inFlight=0, streamsOpen=0, requestsCompleted=1)

    async def test_the_hosts_exceptions_pass_unchanged(self):
        for error in (ValueError("theirs"), KeyboardInterrupt(), GeneratorExit()):

            async def failing(scope, receive, send, error=error):
                raise error

            self.manager._server_instances["a"] = self.transport(failing)
            with self.assertRaises(type(error)) as caught:
                await self.manager.handle_request(POST, None, _swallow)
            self.assertIs(caught.exception, error)
        self.assertReports(inFlight=0, requestsCompleted=3)

    async def test_only_a_get_that_is_answered_with_200_is_a_stream(self):
        for scope, status, streams in ((GET, 200, 1), (GET, 406, 0), (POST, 200, 0)):
            seen = []

            async def answering(scope, receive, send, status=status, seen=seen):
                await send({"type": "http.response.start", "status": status})
                await send({"type": "http.response.body"})
                seen.append(self.report()["streamsOpen"])

            self.manager._server_instances["a"] = self.transport(answering)
            await self.manager.handle_request(scope, None, _swallow)
            self.assertEqual(seen, [streams])
            self.assertReports(streamsOpen=0)

    async def test_a_session_removed_while_it_serves(self):
        release, task = await self.serve()
        self.manager._server_instances.pop("a")
        self.assertReports(registered=0, inFlight=0, oldestIdleSeconds=None)
        release.set()
        await task
        self.assertReports(registered=0, inFlight=0, oldestIdleSeconds=None, removals=1)

    async def test_a_terminated_entry_is_a_remnant_until_it_is_removed(self):
        transport = self.transport()
        self.manager._server_instances["a"] = transport
        self.assertReports(remnants=0)
        await transport.terminate()
        await transport.terminate()
        self.assertReports(remnants=1)
        self.assertIsNotNone(self.report()["oldestIdleSeconds"])
        del self.manager._server_instances["a"]
        self.assertReports(remnants=0)
        self.manager._server_instances["a"] = transport
        self.assertReports(remnants=1)

    async def test_a_termination_that_no_method_told_of_shows_with_the_end_of_the_request(self):
        async def ending(scope, receive, send):
            transport._terminated = True

        transport = self.transport(ending)
        self.manager._server_instances["a"] = transport
        await self.manager.handle_request(POST, None, _swallow)
        self.assertReports(remnants=1)

    async def test_a_removal_with_a_cancelled_idle_scope_is_an_expiry(self):
        for cancelled, expirations in ((False, 0), (True, 1)):
            transport = self.transport()
            transport.idle_scope = mock.Mock(cancel_called=cancelled)
            self.manager._server_instances["a"] = transport
            self.manager._server_instances.pop("a")
            self.assertReports(expirations=expirations)
        self.assertEqual(self.report()["endedSessionDurations"]["count"], 2)

    async def test_refused_admissions_are_rejections(self):
        self.manager.max_sessions = 1
        self.assertIsNotNone(self.manager._admit_session("a"))
        self.assertIsNone(self.manager._admit_session("b"))
        self.assertReports(registered=1, rejections=1, sessionLimit=1)

    async def test_one_transport_under_two_keys_is_one_session(self):
        transport = self.transport()
        self.manager._server_instances.update(a=transport, b=transport)
        self.assertReports(registered=2, registrations=2)
        del self.manager._server_instances["a"]
        self.assertIsNotNone(self.report()["oldestIdleSeconds"])
        del self.manager._server_instances["b"]
        self.assertReports(registered=0, removals=2, oldestIdleSeconds=None)

    async def stateless_request(self, manager, **scope):
        """A request that a stateless manager has answered; returns (event that ends its server, its task)."""
        scope = {**POST, "ends": asyncio.Event(), **scope}
        await manager._handle_stateless_request(scope, None, _swallow)
        return scope["ends"], scope["server"]

    async def test_a_stateless_session_counts_until_its_server_ends(self):
        manager = self.module.StreamableHTTPSessionManager(stateless=True)
        kept = [await self.stateless_request(manager) for _ in range(3)]
        report = snapshot.take()["managers"][1]
        self.assertEqual((report["registered"], report["registrations"], report["inFlight"]), (3, 3, 0))
        self.assertIsNotNone(report["oldestIdleSeconds"])
        for ends, server in kept:
            ends.set()
            await server
        report = snapshot.take()["managers"][1]
        self.assertEqual((report["registered"], report["removals"]), (0, 3))
        self.assertEqual(support.identity_drift(report), 0)
        self.assertEqual(report["endedSessionDurations"]["count"], 3)
        self.assertReports(registered=0, registrations=0)

    async def test_a_server_that_fails_has_ended(self):
        manager = self.module.StreamableHTTPSessionManager(stateless=True)
        _, server = await self.stateless_request(manager)
        server.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await server
        self.assertEqual(snapshot.take()["managers"][1]["registered"], 0)

    async def test_a_transport_of_another_manager_is_no_stateless_session(self):
        manager = self.module.StreamableHTTPSessionManager(stateless=True)
        ends, server = await self.stateless_request(manager, id="other")
        self.assertEqual(snapshot.take()["managers"][1]["registrations"], 0)
        ends.set()
        await server

    async def test_a_connection_without_a_stateless_request_is_not_counted(self):
        async with self.transport().connect() as streams:
            self.assertEqual(streams, "streams")
            self.assertReports(registered=0, registrations=0)

    async def test_managers_are_told_apart_and_numbered_as_they_were_made(self):
        other = self.module.StreamableHTTPSessionManager(stateless=True, session_idle_timeout=2.5)
        other._server_instances["a"] = self.transport()
        first, second = snapshot.take()["managers"]
        self.assertEqual(int(second["manager"]), int(first["manager"]) + 1)
        self.assertEqual((first["registered"], second["registered"]), (0, 1))
        self.assertEqual((second["stateless"], second["idleTimeoutSeconds"]), (True, 2.5))

    async def test_changes_behind_our_back_show_as_identity_drift(self):
        registry = self.manager._server_instances
        registry["a"] = self.transport()
        dict.__setitem__(registry, "b", self.transport())
        self.assertEqual(support.identity_drift(self.report()), 1)
        self.manager._server_instances = {}
        self.assertEqual(support.identity_drift(self.report()), -1)

    async def test_counts_are_read_while_nothing_can_change(self):
        free = []

        def look(*_):
            thread = threading.Thread(target=lambda: free.append(support.is_free(lock)))
            thread.start()
            thread.join()

        # Called in the middle of a manager's report.
        with mock.patch.object(snapshot, "_positive", look):
            self.report()
        self.assertEqual(set(free), {False})

    async def test_a_manager_that_is_older_than_the_probe_is_watched_when_it_runs(self):
        module = support.load_fake_module()
        manager = module.StreamableHTTPSessionManager()
        manager._server_instances["a"] = module.StreamableHTTPServerTransport()
        attach.attach(module)
        manager.run()
        report = snapshot.take()["managers"][-1]
        self.assertEqual(
            (report["registered"], report["registeredAtStart"], report["registrations"]), (1, 1, 0)
        )

    async def test_attaching_twice_counts_once(self):
        attach.attach(self.module)
        self.manager._server_instances["a"] = self.transport()
        await self.manager.handle_request(POST, None, _swallow)
        self.assertReports(registrations=1, requestsCompleted=1)

    async def test_nothing_is_kept_alive(self):
        transport = self.transport()
        self.manager._server_instances["a"] = transport
        await self.manager.handle_request(GET, None, _swallow)
        self.manager._server_instances.pop("a")
        gone = weakref.ref(transport)
        del transport
        self.assertIsNone(gone())
        gone = weakref.ref(self.manager)
        self.manager = None
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual(snapshot.take()["managers"], [])
        self.assertEqual([each for each in gc.get_objects() if type(each) is Session], [])

    async def test_entries_of_an_unknown_kind_count_and_are_a_problem(self):
        self.manager._server_instances["a"] = 3
        taken = snapshot.take()
        self.assertFalse(taken["supported"])
        self.assertEqual([each["where"] for each in taken["problems"]], ["session.enter"])
        self.assertEqual(taken["managers"][0]["registered"], 1)
        self.assertEqual(support.identity_drift(taken["managers"][0]), 0)


async def _swallow(message):
    pass


if __name__ == "__main__":
    unittest.main()
