"""The part of `unittest` that scripts use to test themselves: cases, assertions, skipping and `main`."""

import contextlib
import difflib
import re
import sys
import time
import traceback

__all__ = ["TestCase", "SkipTest", "skip", "skipIf", "skipUnless", "expectedFailure", "main", "TestLoader", "TestSuite",
           "TextTestRunner", "defaultTestLoader"]


class SkipTest(Exception):
    pass


def skip(reason):
    def mark(item):
        item.__unittest_skip__ = reason if isinstance(reason, str) else ""
        return item
    return mark if isinstance(reason, str) else mark(reason)


def skipIf(condition, reason):
    return skip(reason) if condition else lambda item: item


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def expectedFailure(item):
    item.__unittest_expecting_failure__ = True
    return item


class _Raises(contextlib.AbstractContextManager):
    def __init__(self, case, expected, pattern=None):
        self._case, self._expected, self._pattern = case, expected, pattern
        self.exception = None

    def __exit__(self, kind, value, trace):
        if kind is None:
            name = getattr(self._expected, "__name__", self._expected)
            self._case.fail(f"{name} not raised")
        if not issubclass(kind, self._expected):
            return False
        self.exception = value.with_traceback(None)
        if self._pattern is not None and not re.search(self._pattern, str(value)):
            self._case.fail(f"{self._pattern!r} does not match {str(value)!r}")
        return True


class TestCase:
    failureException = AssertionError
    maxDiff = 640

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName
        self._cleanups = []

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def addCleanup(self, function, /, *arguments, **options):
        self._cleanups.append((function, arguments, options))

    def id(self):
        return f"{type(self).__module__}.{type(self).__qualname__}.{self._testMethodName}"

    def shortDescription(self):
        text = getattr(self, self._testMethodName).__doc__
        return text.strip().split("\n")[0] if text else None

    def __str__(self):
        return f"{self._testMethodName} ({self.id()})"

    def skipTest(self, reason):
        raise SkipTest(reason)

    @contextlib.contextmanager
    def subTest(self, msg=None, **parameters):
        yield

    def fail(self, msg=None):
        raise self.failureException(msg)

    def _check(self, holds, standard, msg):
        if not holds:
            raise self.failureException(standard if msg is None else f"{standard} : {msg}")

    def assertTrue(self, expr, msg=None):
        self._check(expr, f"{expr!r} is not true", msg)

    def assertFalse(self, expr, msg=None):
        self._check(not expr, f"{expr!r} is not false", msg)

    def assertEqual(self, first, second, msg=None):
        if first == second:
            return
        standard = f"{first!r} != {second!r}"
        if isinstance(first, str) and isinstance(second, str) and "\n" in first + second:
            standard += "\n" + "".join(difflib.ndiff(first.splitlines(True), second.splitlines(True)))
        self._check(False, standard, msg)

    assertListEqual = assertDictEqual = assertTupleEqual = assertSetEqual = assertEqual
    assertSequenceEqual = assertMultiLineEqual = assertEqual

    def assertNotEqual(self, first, second, msg=None):
        self._check(first != second, f"{first!r} == {second!r}", msg)

    def assertIs(self, first, second, msg=None):
        self._check(first is second, f"{first!r} is not {second!r}", msg)

    def assertIsNot(self, first, second, msg=None):
        self._check(first is not second, f"unexpectedly identical: {first!r}", msg)

    def assertIsNone(self, value, msg=None):
        self._check(value is None, f"{value!r} is not None", msg)

    def assertIsNotNone(self, value, msg=None):
        self._check(value is not None, "unexpectedly None", msg)

    def assertIn(self, member, container, msg=None):
        self._check(member in container, f"{member!r} not found in {container!r}", msg)

    def assertNotIn(self, member, container, msg=None):
        self._check(member not in container, f"{member!r} unexpectedly found in {container!r}", msg)

    def assertIsInstance(self, value, cls, msg=None):
        self._check(isinstance(value, cls), f"{value!r} is not an instance of {cls!r}", msg)

    def assertNotIsInstance(self, value, cls, msg=None):
        self._check(not isinstance(value, cls), f"{value!r} is an instance of {cls!r}", msg)

    def assertGreater(self, first, second, msg=None):
        self._check(first > second, f"{first!r} not greater than {second!r}", msg)

    def assertGreaterEqual(self, first, second, msg=None):
        self._check(first >= second, f"{first!r} not greater than or equal to {second!r}", msg)

    def assertLess(self, first, second, msg=None):
        self._check(first < second, f"{first!r} not less than {second!r}", msg)

    def assertLessEqual(self, first, second, msg=None):
        self._check(first <= second, f"{first!r} not less than or equal to {second!r}", msg)

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        difference = abs(first - second) if first != second else 0
        near = difference <= delta if delta is not None else round(difference, 7 if places is None else places) == 0
        self._check(near, f"{first!r} != {second!r} ({difference!r} difference)", msg)

    def assertRegex(self, text, expected_regex, msg=None):
        self._check(re.search(expected_regex, text), f"Regex didn't match: {expected_regex!r} not found in {text!r}", msg)

    def assertNotRegex(self, text, unexpected_regex, msg=None):
        self._check(not re.search(unexpected_regex, text), f"Regex matched: {unexpected_regex!r} in {text!r}", msg)

    def assertCountEqual(self, first, second, msg=None):
        key = lambda item: (type(item).__name__, repr(item))
        self.assertEqual(sorted(first, key=key), sorted(second, key=key), msg)

    def assertRaises(self, expected, *arguments, **options):
        return self._raises(_Raises(self, expected), arguments, options)

    def assertRaisesRegex(self, expected, pattern, *arguments, **options):
        return self._raises(_Raises(self, expected, pattern), arguments, options)

    def _raises(self, context, arguments, options):
        if not arguments:
            return context
        with context:
            arguments[0](*arguments[1:], **options)

    def run(self, result):
        result.testsRun += 1
        method = getattr(self, self._testMethodName)
        reason = getattr(method, "__unittest_skip__", getattr(type(self), "__unittest_skip__", None))
        expects_failure = getattr(method, "__unittest_expecting_failure__", False)
        try:
            if reason is not None:
                raise SkipTest(reason)
            self.setUp()
            try:
                method()
            finally:
                self.tearDown()
        except SkipTest as skipped:
            result.skipped.append((self, str(skipped)))
            result.mark("s")
        except KeyboardInterrupt:
            raise
        except Exception as error:
            if expects_failure:
                result.mark("x")
            else:
                failed = isinstance(error, self.failureException)
                (result.failures if failed else result.errors).append((self, traceback.format_exc()))
                result.mark("F" if failed else "E")
        else:
            if expects_failure:
                result.unexpectedSuccesses.append(self)
            result.mark("u" if expects_failure else ".")
        while self._cleanups:
            function, arguments, options = self._cleanups.pop()
            function(*arguments, **options)


class TestResult:
    def __init__(self, stream=None):
        self.testsRun = 0
        self.failures, self.errors, self.skipped, self.unexpectedSuccesses = [], [], [], []
        self._stream = stream

    def mark(self, letter):
        if self._stream is not None:
            self._stream.write(letter)

    def wasSuccessful(self):
        return not (self.failures or self.errors or self.unexpectedSuccesses)


class TestSuite(list):
    def addTest(self, test):
        self.append(test)

    def addTests(self, tests):
        self.extend(tests)

    def countTestCases(self):
        return sum(test.countTestCases() if isinstance(test, TestSuite) else 1 for test in self)

    def run(self, result):
        of_class = None
        for test in self:
            if not isinstance(test, TestSuite) and type(test) is not of_class:
                if of_class is not None:
                    of_class.tearDownClass()
                of_class = type(test)
                of_class.setUpClass()
            test.run(result)
        if of_class is not None:
            of_class.tearDownClass()
        return result


class TestLoader:
    testMethodPrefix = "test"

    def loadTestsFromTestCase(self, case):
        names = [name for name in dir(case) if name.startswith(self.testMethodPrefix) and callable(getattr(case, name))]
        return TestSuite(case(name) for name in sorted(names))

    def loadTestsFromModule(self, module, *, pattern=None):
        cases = [item for item in vars(module).values()
                 if isinstance(item, type) and issubclass(item, TestCase) and item is not TestCase]
        return TestSuite(self.loadTestsFromTestCase(case) for case in sorted(cases, key=lambda case: case.__name__))


defaultTestLoader = TestLoader()


class TextTestRunner:
    def __init__(self, stream=None, descriptions=True, verbosity=1, failfast=False, buffer=False, **options):
        self.stream = stream or sys.stderr

    def run(self, test):
        result = TestResult(self.stream)
        started = time.perf_counter()
        test.run(result)
        took = time.perf_counter() - started
        write = self.stream.write
        write("\n")
        for kind, found in (("ERROR", result.errors), ("FAIL", result.failures)):
            for case, text in found:
                write(f"{'=' * 70}\n{kind}: {case}\n{'-' * 70}\n{text}\n")
        write(f"{'-' * 70}\nRan {result.testsRun} test{'' if result.testsRun == 1 else 's'} in {took:.3f}s\n\n")
        counts = [("failures", result.failures), ("errors", result.errors), ("skipped", result.skipped),
                  ("unexpected successes", result.unexpectedSuccesses)]
        details = ", ".join(f"{name}={len(found)}" for name, found in counts if found)
        verdict = "OK" if result.wasSuccessful() else "FAILED"
        write(f"{verdict} ({details})\n" if details else f"{verdict}\n")
        return result


def main(module="__main__", defaultTest=None, argv=None, testRunner=None, testLoader=defaultTestLoader, exit=True,
         verbosity=1, **options):
    module = sys.modules[module] if isinstance(module, str) else module
    result = (testRunner or TextTestRunner)(verbosity=verbosity).run(testLoader.loadTestsFromModule(module))
    if exit:
        sys.exit(not result.wasSuccessful())
    return result
