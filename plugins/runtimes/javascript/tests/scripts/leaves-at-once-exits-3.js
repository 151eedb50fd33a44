async function main() {
  try {
    await null;
    process.exit(3);
  } catch {
    process.exit(4);
  } finally {
    process.exit(5);
  }
}

main();
setTimeout(() => process.exit(6), 1);
