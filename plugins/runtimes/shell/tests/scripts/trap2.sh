f() { trap 'echo ret' RETURN; echo in; }; f; trap - RETURN; trap 'echo got $?' EXIT; (trap 'echo subexit' EXIT; echo sub); set -e; g() { false; echo no; }; g
