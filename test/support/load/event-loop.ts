// How long a piece of work keeps everything else of the process waiting.
import { readFileSync } from 'node:fs'

/** The processor time of the thread that serves calls, in ms: neither other threads nor other programs count. */
export const threadMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000

/** The longest time in ms for which nothing else ran, of which the thread was at work. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let [longest, isDone] = [0, false]
  let [at, used] = [performance.now(), threadMs()]
  const watch = async () => {
    while (!isDone) {
      await Bun.sleep(0)
      longest = Math.max(longest, Math.min(performance.now() - at, threadMs() - used))
      ;[at, used] = [performance.now(), threadMs()]
    }
  }
  const watching = watch()
  await work()
  isDone = true
  await watching
  return longest
}
