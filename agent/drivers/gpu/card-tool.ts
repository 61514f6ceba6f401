// `berth agent card-tool …`, which the agent runs for itself: calls into NVIDIA's libraries that a broken card can hold
// for minutes or for ever. They hold up this process alone, and the agent ends it.
import { log } from '../../log.ts'
import { clearCard, proveClear } from './clearing.ts'
import type { CardRequest } from './cuda.ts'
import { openNvml } from './nvml.ts'

/** The word behind `berth agent`. It is no command for people, and no help names it. */
export const CARD_TOOL = 'card-tool'
/** The exit code where the library or its driver is not there. */
export const NO_LIBRARY = 3

/**
 * Runs `clear LIBRARY BUS` or `prove LIBRARY BUS`, which print what `clearCard` and `proveClear` answer, or
 * `watch LIBRARY MS`, which prints a line of samples each time until the agent ends. Returns the exit code.
 */
export async function cardTool([task, library = '', last = '']: readonly string[]): Promise<number> {
  if (task === 'clear') return once(clearCard, { library, bus: last })
  if (task === 'prove') return once(proveClear, { library, bus: last })
  if (task === 'watch') return await watch(library, Number(last))
  return 2
}

function once(work: (request: CardRequest) => unknown, request: CardRequest): number {
  try {
    print(work(request))
    return 0
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

async function watch(library: string, everyMs: number): Promise<number> {
  const agent = process.ppid
  let samples: ReturnType<typeof openNvml>
  try {
    samples = openNvml(library)
  } catch (error) {
    log('info', 'the library of the cards cannot be used; nvidia-smi is asked instead', { error: String(error) })
    return NO_LIBRARY
  }
  while (process.ppid === agent) {
    print(samples())
    await Bun.sleep(everyMs)
  }
  return 0
}

const print = (value: unknown) => process.stdout.write(JSON.stringify(value) + '\n')
