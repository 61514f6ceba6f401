// The protocol of a console: a viewer's WebSocket at the controller, and for each viewer one that the node opens to the
// controller. Binary frames are the bytes of the screen (RFB) or of the serial line, unchanged; text frames are JSON.
import { type Static, Type as t } from 'typebox'
import { counter } from './bounds.ts'

/** `vnc`: the screen. `serial`: the first serial line. */
export const consoleKinds = ['vnc', 'serial'] as const
export type ConsoleKind = (typeof consoleKinds)[number]

/** A node sends at most so many bytes that the controller has not acknowledged: they are in somebody's memory. */
export const CONSOLE_WINDOW_BYTES = 512 << 10
/** The controller acknowledges at least this often, so that the window never closes on a viewer who reads. */
export const CONSOLE_ACK_BYTES = 64 << 10
/** The most bytes of a frame from a viewer. Keys are 12 bytes; a pasted text comes in pieces. */
export const MOST_VIEWER_FRAME_BYTES = 64 << 10

/** The reasons for which a node cannot open a console. */
export const consoleFailures = ['not_running', 'no_serial_line', 'too_many', 'failed'] as const

/** Text frames from the node: the stream is open, could not be opened, or the answer to a `ping`. */
export const FromConsole = t.Union([
  t.Object({ type: t.Literal('open') }),
  t.Object({ type: t.Literal('failed'), code: t.Enum(consoleFailures) }),
  t.Object({ type: t.Literal('pong'), n: counter }),
])
export type FromConsole = Static<typeof FromConsole>

/** Text frames to the node. `ack`: so many bytes since the beginning have left the controller towards the viewer. */
export const ToConsole = t.Union([
  t.Object({ type: t.Literal('ack'), bytes: counter }),
  t.Object({ type: t.Literal('ping'), n: counter }),
])
export type ToConsole = Static<typeof ToConsole>

/** Codes with which the node closes its console socket. */
export const consoleCloseCodes = {
  /** The stream ended: the vm was switched off, or its process ended. */
  ended: 4410,
  /** The viewer sent something that no viewer sends. */
  refused: 4400,
} as const
