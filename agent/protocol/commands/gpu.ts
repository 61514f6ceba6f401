import { Type as t } from 'typebox'
import { CardCheck, cardUuid, MOST_CARDS } from '../gpu.ts'
import { act } from './declare.ts'

export const gpuCommands = {
  /**
   * Clears the memory of these cards, proves it, and checks that each can be sold. What is wrong with a card is the
   * answer and no failure. No program may use them meanwhile.
   */
  'cards.check': act({
    input: t.Object({ cards: t.Array(cardUuid, { minItems: 1, maxItems: MOST_CARDS }) }),
    output: t.Object({ cards: t.Array(CardCheck, { maxItems: MOST_CARDS }) }),
    failures: [],
  }),
}
