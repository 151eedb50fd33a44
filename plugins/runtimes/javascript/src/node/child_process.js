// Exists so that importing it does not fail; every call throws an explanation.

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  exports[name] = Object.defineProperty(() => {
    const error = new Error(`child_process.${name} is not available: scripts run in a sandbox that starts no processes`);
    throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  }, 'name', { value: name });
}
