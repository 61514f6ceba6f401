// A guest that counts: a number goes to its disk each 10 ms, so that a write that is lost leaves a gap; and pings each
// 10 ms, so that somebody beside it sees for how long it stands still.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../guest.ts'

/** A program that writes numbers to a file, 16 bytes each, one each 10 ms, and waits for the disk each time. */
const COUNTER = `
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  int file = open("/root/counter", O_WRONLY | O_CREAT | O_DSYNC | O_APPEND, 0600);
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (long n = 1;; n++) {
    char record[17];
    snprintf(record, sizeof record, "%015ld\\n", n);
    if (write(file, record, 16) != 16) return 1;
    next.tv_nsec += 10000000;
    if (next.tv_nsec >= 1000000000) next.tv_sec++, next.tv_nsec -= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
}
`

/** Compiles the program into this directory, and answers its path. */
export async function counterIn(dir: string): Promise<string> {
  const [source, program] = [join(dir, 'counter.c'), join(dir, 'counter')]
  writeFileSync(source, COUNTER)
  await must('gcc', '-static', '-O1', '-o', program, source)
  return program
}
/** Shell commands for the guest: to take the program from standard input, and to begin from 1. */
export const takeCounter = 'cat > /root/count; chmod 700 /root/count'
export const beginCounting = 'rm -f /root/counter; setsid /root/count >/dev/null 2>&1 </dev/null &'

/** Of the file that the program writes: the last number, and the lines around the first that is missing or doubled. */
export function gapsIn(text: string) {
  const lines = text.trim().split('\n')
  const numbers = lines.map(Number)
  const wrong = numbers.findIndex((number, i) => number !== i + 1)
  return { last: numbers.at(-1) ?? 0, gap: wrong < 0 ? undefined : lines.slice(Math.max(0, wrong - 2), wrong + 2) }
}

/** Pings each 10 ms. `inside`: the start of a command there. `stop` answers the longest silence, in milliseconds. */
export function pinging(inside: readonly string[], address: string) {
  const child = Bun.spawn([...inside, 'ping', '-n', '-D', '-i', '0.01', address], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  })
  const out = new Response(child.stdout).text()
  return {
    async stop() {
      child.kill('SIGINT')
      const times = [...(await out).matchAll(/^\[(\d+\.\d+)\] \d+ bytes/gm)].map(([, at]) => Number(at) * 1000)
      const silences = times.slice(1).map((at, i) => at - times[i]!)
      return { answers: times.length, silenceMs: Math.round(Math.max(...silences)) }
    },
  }
}
