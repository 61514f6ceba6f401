// Buttons that open a dialog, and those that say why they cannot be pressed.
// @ts-check

/** Where in the page a click or a key was, going outwards. @returns {HTMLElement | null} */
const around = (/** @type {Event} */ { target }, /** @type {string} */ selector) => /** @type {Element} */ (target).closest(selector)

document.addEventListener('click', (event) => {
  const dull = around(event, '[aria-disabled=true]')
  if (dull) {
    event.preventDefault()
    return toast(dull.dataset['why'] ?? '')
  }
  const opener = around(event, '[data-dialog]')
  if (opener) {
    event.preventDefault()
    const dialog = /** @type {HTMLDialogElement} */ (document.getElementById(opener.dataset['dialog'] ?? ''))
    clearErrors(dialog)
    dialog.showModal()
    // The first thing to fill in; with nothing to fill in, the button that changes nothing.
    const first = $('[autofocus], input:not([type=hidden]):not(:disabled), select, textarea', dialog) ?? $('[data-close]', dialog)
    first?.focus()
  }
  if (around(event, '[data-close]')) /** @type {HTMLDialogElement | null} */ (around(event, 'dialog'))?.close()
})

/** What destroys data is done only after its name was typed. */
document.addEventListener('input', (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target)
  const must = input.dataset['mustBe']
  const button = must !== undefined && /** @type {HTMLButtonElement | null} */ (input.form && $('[data-gated]', input.form))
  if (button) button.disabled = input.value !== must
})
