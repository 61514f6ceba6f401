// The cards of a host, as the commands and the reports use them.
import type { Card, CardCheck, CardSample } from '../../protocol/gpu.ts'

/** The cards of one host. */
export interface Gpus {
  /** The cards that the host has now. One that does not answer is there, with a problem; one that vanished is not. */
  cards(): Promise<Card[]>
  /** The use of each card that answers. */
  samples(): Promise<CardSample[]>
  /**
   * Decides about each card whether the next customer can have it: reads its errors, clears all its memory, proves it
   * clear, and puts a short load on it. A card on which a program runs is not touched, and not sellable.
   */
  check(uuids: readonly string[]): Promise<CardCheck[]>
  /** Errors that these cards have reported since `at`, in ms since 1970, in plain words, oldest first. */
  troublesSince(uuids: readonly string[], at: number): string[]
  /** Sentences: what this host lacks to run instances with its cards, each with the remedy. Empty without cards. */
  findings(): Promise<string[]>
  /** Called when cards came, vanished, broke or were put right. */
  onChange: () => void
  /** Watches the cards until `signal` aborts. */
  stay(signal: AbortSignal): Promise<void>
  close(): void
}
