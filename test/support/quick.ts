/**
 * `test/run --quick` sets it: loops over everything take a part of their cases, so that the run answers within minutes.
 */
export const isQuick = process.env['BERTH_QUICK'] === '1'

/**
 * All cases, or in a quick run every nth of them, beginning at `offset`: loops that differ in their offset leave out
 * different cases. Never fewer than one of a list that has one.
 */
export const quickly = <T>(cases: readonly T[], every: number, offset = 0): readonly T[] => {
  const first = offset % Math.min(every, cases.length || 1)
  return isQuick ? cases.filter((_, i) => i % every === first) : cases
}
/** A number of cases: all of them, or in a quick run the nth part. */
export const quickCount = (cases: number, every: number): number => (isQuick ? Math.ceil(cases / every) : cases)
