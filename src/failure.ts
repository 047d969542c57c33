/**
 * Whether a run's end is a failure that people should hear of, by its exit code. Held by another run (4), stopped by a limit (5)
 * or by a signal (130, 143): the data is as good as it was, and if that goes on it becomes late.
 */
export function isFailure(exitCode: number): boolean {
  return ![0, 4, 5, 130, 143].includes(exitCode);
}
