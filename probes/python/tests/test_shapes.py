"""SDKs of a shape that the probe does not know: told, and left alone."""

import unittest

import support
from mcp_retention_probe import attach, problems, snapshot


class UnknownShapesTest(unittest.TestCase):
    def setUp(self):
        problems._problems.clear()
        self.addCleanup(problems._problems.clear)
        self.module = support.load_fake_module()

    def attached(self):
        attach.attach(self.module)
        return {each["where"]: each["last"] for each in snapshot.take()["problems"]}

    def test_no_manager(self):
        del self.module.StreamableHTTPSessionManager
        self.assertIn("sdk.manager", self.attached())

    def test_no_transport(self):
        self.module.StreamableHTTPServerTransport = None
        self.assertIn("sdk.transport", self.attached())

    def test_methods_that_are_not_async_are_left_alone(self):
        def handle_request(self, scope, receive, send):
            return 7

        self.module.StreamableHTTPSessionManager.handle_request = handle_request
        self.module.StreamableHTTPServerTransport.handle_request = handle_request
        self.module.StreamableHTTPServerTransport.terminate = handle_request
        self.assertEqual(set(self.attached()), {"sdk.manager", "sdk.transport"})
        manager = self.module.StreamableHTTPSessionManager()
        self.assertEqual(manager.handle_request(None, None, None), 7)

    def test_a_stateless_manager_of_which_nothing_can_be_counted(self):
        del self.module.StreamableHTTPSessionManager._handle_stateless_request
        self.assertEqual(self.attached(), {})
        self.module.StreamableHTTPSessionManager(stateless=True)
        self.assertIn("_handle_stateless_request", problems.listed()[0]["last"])

    def test_a_transport_without_connect(self):
        del self.module.StreamableHTTPServerTransport.connect
        self.assertIn("connect", self.attached()["sdk.transport"])

    def test_a_limit_without_a_known_admission(self):
        del self.module.StreamableHTTPSessionManager._admit_session
        self.assertIn("limit", self.attached()["sdk.manager"])

    def test_a_registry_that_is_no_dict_is_left_alone(self):
        class Manager(self.module.StreamableHTTPSessionManager):
            def __init__(self):
                self._server_instances = []

        self.assertEqual(self.attached(), {})
        manager = Manager()
        manager.run()
        manager.run()
        self.assertEqual(manager._server_instances, [])
        (problem,) = problems.listed()
        self.assertEqual((problem["where"], problem["count"]), ("manager.watch", 1))

    def test_a_problem_tells_no_message_of_an_exception(self):
        try:
            raise KeyError("a secret")
        except KeyError as error:
            problems.note("here", error)
        (problem,) = problems.listed()
        self.assertRegex(problem["last"], r"^KeyError at test_shapes\.py:\d+$")


if __name__ == "__main__":
    unittest.main()
