// Files that unit tests read as they are (run_unit_tests.sh tells esbuild how).
declare module "*.bin" {
  const bytes: Uint8Array;
  export default bytes;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
