// Errors of cards in the kernel's log (`NVRM: Xid`). The meanings follow NVIDIA's Xid catalogue for Ampere and newer
// cards (docs.nvidia.com/deploy/xid-errors, read in 2026), the actions its column of immediate actions.

/**
 * The consequence of an error for the card. `tenant`: the program's own fault, or it has to be started again; the card
 * goes on. `watch`: nothing now. `reset`: no new customer until the card was reset. `reboot`: until the host was
 * started again. `replace`: as `reboot`, and reset or reboot will not mend it.
 */
export type XidAction = 'tenant' | 'watch' | 'reset' | 'reboot' | 'replace'

/** An error as the kernel's log has it; `at` in ms since 1970. */
export type Xid = { bus: string; code: number; at: number; text: string }

type Meaning = readonly [action: XidAction, words: string]

const video = 'a program failed in a video engine of the card'
const copy = 'a program failed in a copy engine of the card'
const link = 'a link to other cards failed'
const stuck = 'the card stopped answering to its driver'

const meanings: Readonly<Record<number, Meaning>> = {
  8: ['tenant', 'the card stopped working on a program'],
  11: ['tenant', 'a program sent commands that are broken'],
  13: ['tenant', 'a program did something illegal on the card, such as an access outside of an array'],
  25: ['tenant', 'a program sent commands that are illegal'],
  31: ['tenant', 'a program used memory of the card that it does not have'],
  32: ['tenant', 'a program sent commands that are broken'],
  37: ['watch', 'the firmware of the card met a command that it does not know'],
  38: ['watch', 'the firmware of the card was late'],
  39: ['tenant', copy],
  40: ['tenant', copy],
  41: ['tenant', copy],
  43: ['tenant', 'a program on the card was ended after a fault of its own'],
  44: ['watch', 'the card failed while it changed between programs'],
  45: ['tenant', 'a program on the card was ended after an earlier error'],
  46: ['reset', 'the card stopped working'],
  48: ['reset', 'an error in the memory of the card could not be corrected'],
  54: ['reboot', 'a power cable of the card is missing'],
  60: ['tenant', video],
  61: ['reset', 'a controller inside of the card stopped'],
  62: ['reset', 'a controller inside of the card stopped'],
  63: ['watch', 'a row of the card’s memory is replaced at the next reset'],
  64: ['replace', 'a row of the card’s memory could not be replaced'],
  66: ['watch', 'the driver made an illegal access'],
  67: ['watch', 'the driver made an illegal access'],
  68: ['tenant', video],
  69: ['tenant', 'a program sent commands that the card does not know'],
  74: ['reset', link],
  78: ['watch', 'a virtual card did not start'],
  79: ['reboot', 'the card fell off the bus'],
  80: ['tenant', 'a program sent commands that arrived damaged'],
  82: ['tenant', video],
  83: ['tenant', video],
  84: ['tenant', video],
  86: ['tenant', video],
  88: ['tenant', video],
  89: ['tenant', video],
  92: ['watch', 'many errors in the memory of the card were corrected'],
  93: ['watch', 'the card wrote its own settings very often'],
  94: ['tenant', 'an error in the memory of the card could not be corrected; it met one program alone'],
  95: ['reset', 'an error in the memory of the card could not be corrected; it may have met every program'],
  109: ['reset', 'the card was late in changing between programs'],
  110: ['reset', 'the card reported a fault of its security'],
  119: ['reset', stuck],
  120: ['reset', 'the firmware of the card failed'],
  121: ['watch', 'the link between processor and card failed for a moment'],
  136: ['reset', link],
  137: ['watch', 'another card used a link to this one without permission'],
  140: ['reset', 'an error in the memory of the card could not be corrected'],
  141: ['watch', 'a program left the fast way to the card'],
  142: ['watch', video],
  143: ['reset', 'the card could not be started'],
  144: ['reset', link],
  145: ['reset', link],
  146: ['reset', link],
  147: ['reset', link],
  148: ['reset', link],
  149: ['reset', link],
  150: ['reset', link],
  155: ['reset', link],
  156: ['reset', 'a part of the card is switched off at the next reset'],
  157: ['replace', 'a broken part of the card could not be switched off'],
  158: ['reset', stuck],
  161: ['watch', 'a channel of the card could not be switched off'],
  167: ['reboot', 'the bus of the card stopped'],
  169: ['reset', 'a controller inside of the card stopped'],
  171: ['watch', 'more about an error in the memory of the card'],
  172: ['watch', 'more about an error in the memory of the card'],
}

/** Engines that newer cards have more of: copy engines, and those that decode video and pictures. */
const ranges: readonly (readonly [from: number, to: number, Meaning])[] = [
  [70, 72, ['tenant', copy]],
  [75, 77, ['tenant', copy]],
  [85, 85, ['tenant', copy]],
  [96, 105, ['tenant', video]],
  [126, 135, ['tenant', copy]],
  [139, 139, ['tenant', video]],
]

/** With this number the driver names the action itself. */
const ACTION_CHANGED = 154

/** The error in a line of the kernel's log; undefined for every other line. `at` in ms since 1970. */
export function xidIn(line: string, at: number): Xid | undefined {
  const [, bus, code, text] = /NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)[^)]*\): (\d{1,4})(?:, (.*))?$/.exec(line) ?? []
  if (bus === undefined || code === undefined) return undefined
  return { bus: bus.toLowerCase().replace(/\.\d$/, ''), code: Number(code), at, text: (text ?? '').slice(0, 300) }
}

/** Whether an error is one of the card at `bus`, `0000:3b:00.0`; the log leaves out the function. */
export const isOf = (xid: Xid, bus: string) => bus.replace(/\.\d$/, '') === xid.bus

/** The consequence for the card. An error that the table does not have is one to watch. */
export function actionOf({ code, text }: Pick<Xid, 'code' | 'text'>): XidAction | 'mended' {
  if (code !== ACTION_CHANGED) return meaningOf(code)?.[0] ?? 'watch'
  const to = /\bto 0x[0-9a-f]+ \(([^)]*)\)/i.exec(text)?.[1] ?? ''
  if (/^none$/i.test(to)) return 'mended'
  return /reboot/i.test(to) ? 'reboot' : 'reset'
}

/** The error in plain words, with its number. */
export function wordsOf({ code, text }: Pick<Xid, 'code' | 'text'>): string {
  if (code === ACTION_CHANGED) return `Xid 154: its driver says what to do: ${text || 'nothing more'}`
  const words = meaningOf(code)?.[1]
  return `Xid ${code}: ${words ?? 'an error that this version does not know; NVIDIA’s Xid catalogue has it'}`
}

const meaningOf = (code: number): Meaning | undefined =>
  meanings[code] ?? ranges.find(([from, to]) => code >= from && code <= to)?.[2]
