# Runs before scripts that can need more than the snapshot has. Every line costs time in each such run.
import marshal, os, subprocess, sys, http, zipimport, concurrent.futures as futures, _bashkit_boot as boot
del sys.path[0]
sys.path += ["/usr/local/lib/skillcell", "/packages/site-packages.zip"]
# The directory of the packages is there in a form that is read faster.
zipimport._read_directory = lambda archive, read=zipimport._read_directory: (
    marshal.loads(open("/packages/directory", "rb").read()) if archive == "/packages/site-packages.zip" else read(archive)
)
http.__path__.append("/usr/local/lib/skillcell/_http")
futures.__path__.insert(0, "/usr/local/lib/skillcell/_futures")
sys.executable = "/usr/bin/python3"
def start(*arguments, **options):
    import _nested
    return _nested.Popen(*arguments, **options)
subprocess.Popen = start
os.system = lambda command: subprocess.call(command, shell=True) << 8
try:
    status = boot._execute(*boot._parse(sys.argv[1:]))
except SystemExit:
    raise
except BaseException as error:
    boot._report(error.with_traceback(error.__traceback__.tb_next))
    status = 1
sys.exit(status)
