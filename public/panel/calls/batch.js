// Calls that are part of a batch. The sender collects the refusals; the page neither shows them nor is drawn again.
// @ts-check

/** @type {WeakMap<HTMLFormElement, (refusal: string) => void>} */
const inBatch = new WeakMap()

export const isInBatch = (/** @type {HTMLFormElement} */ form) => inBatch.has(form)

/** Sends the form; answers why it was refused, or nothing. */
export const sendInBatch = (/** @type {HTMLFormElement} */ form) =>
  new Promise((/** @type {(refusal: string) => void} */ answer) => {
    inBatch.set(form, answer)
    setTimeout(() => answer('no answer yet.'), 30_000)
    form.requestSubmit()
  })

/** Gives the sender of a batch its answer; false for a form that was sent alone. */
export function answeredInBatch(/** @type {HTMLFormElement} */ form, /** @type {string} */ refusal) {
  const answer = inBatch.get(form)
  inBatch.delete(form)
  answer?.(refusal)
  return answer !== undefined
}
