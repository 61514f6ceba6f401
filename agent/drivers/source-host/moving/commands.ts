// Commands that run at a source, each as a line of the job's log: its words, and then its exit code and its time. Their
// outputs are sections of the script's answer, and never part of the log: a definition has secrets.
import { say } from '../../../controller-link/job-log.ts'
import { printable } from '../../../protocol/text.ts'
import { prelude } from '../ssh/marks.ts'

const LIMIT_SECONDS = 60
const MOST_WORDS = 1000

/**
 * The start of a script whose commands are told: `run NAME COMMAND…`. With `into` its output goes to that file, and its
 * errors are the section; otherwise the section has both, and so has `said`.
 */
export const toldPrelude = (nonce: string) => `${prelude(nonce)}
VIRSH_DEFAULT_CONNECT_URI=qemu:///system LIBVIRT_DEFAULT_URI=qemu:///system VIRSH_HISTSIZE=0
export VIRSH_DEFAULT_CONNECT_URI LIBVIRT_DEFAULT_URI VIRSH_HISTSIZE
into=
run() { # NAME COMMAND…
  name=$1; shift
  words="$*"
  began=$(date +%s%N)
  mark "out $name"
  if [ -n "$into" ]; then limited ${LIMIT_SECONDS} "$@" 2>&1 >"$into"; code=$?; words="$words >$into"; into=
  else said=$(limited ${LIMIT_SECONDS} "$@" 2>&1); code=$?; printf '%s\\n' "$said"
  fi
  ended=$(date +%s%N)
  mark "ran $name"
  printf '%s %s\\n%s\\n' "$code" "$(((ended - began) / 1000000))" "$words"
  return "$code"
}
# The first of its kind in a definition.
uuid_in() { sed -n 's:.*<uuid>\\([0-9A-Fa-f-]*\\)</uuid>.*:\\1:p' "$1" | head -n 1; }
name_in() { sed -n 's:.*<name>\\([^<]*\\)</name>.*:\\1:p' "$1" | head -n 1; }
`

export type Sections = ReadonlyMap<string, string>
export type RanThere = { code: number; ms: number; words: string; out: string }

/** A command of the script; undefined: it was not run. */
export function ranThere(sections: Sections, name: string): RanThere | undefined {
  const [, code, ms, words] = /^(\d{1,3}) (-?\d{1,12})\n(.*)/.exec(sections.get(`ran ${name}`) ?? '') ?? []
  if (code === undefined) return undefined
  const of = { code: Number(code), ms: Math.max(0, Number(ms)), words: printable(words!.slice(0, MOST_WORDS)) }
  return { ...of, out: sections.get(`out ${name}`) ?? '' }
}

/** Tells what was run, in its order. */
export function tellCommands(sections: Sections) {
  for (const section of sections.keys()) {
    const ran = section.startsWith('ran ') ? ranThere(sections, section.slice('ran '.length)) : undefined
    if (ran) tellCommand(ran)
  }
}

export function tellCommand({ words, code, ms }: Pick<RanThere, 'words' | 'code' | 'ms'>) {
  say('command', `$ ${words}`)
  say(code === 0 ? 'info' : 'warning', `exit ${code}, ${(ms / 1000).toFixed(1)} s`)
}
