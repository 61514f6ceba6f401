// Everything around the picture of a console: the buttons, text that is typed key by key, and the way out of the
// keyboard.
// @ts-check

/** Where the browser keeps the keyboard that was chosen. */
const LAYOUT = 'console-layout'

/**
 * @param {HTMLElement} root @param {any} viewer of screen.js or serial.js
 * @param {() => void} connect
 */
export function createToolbar(root, viewer, connect) {
  const $ = (/** @type {string} */ selector) => /** @type {any} */ (root.querySelector(selector))
  const layout = rememberedLayout($('[data-layout]'))
  /** @type {AbortController | undefined} */
  let typing
  const stopTyping = () => typing?.abort()

  async function type(/** @type {string} */ text) {
    typing = new AbortController()
    const button = $('[data-deed=stop-typing]')
    button.hidden = false
    viewer.focus()
    await viewer.type(text, layout?.value, typing.signal)
    button.hidden = true
  }

  /** @type {Record<string, () => unknown>} */
  const deeds = {
    connect,
    'ctrl-alt-del': () => viewer.ctrlAltDel(),
    fit: () => viewer.fit?.(),
    'full-screen': () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()),
    'phone-keys': () => $('[data-phone]').focus(),
    'stop-typing': stopTyping,
  }
  root.addEventListener('click', ({ target }) => {
    const deed = /** @type {HTMLElement} */ (target).closest('[data-deed]')?.getAttribute('data-deed')
    if (deed) void deeds[deed]?.()
  })
  document.addEventListener('fullscreenchange', () => {
    $('[data-deed=full-screen] span').textContent = document.fullscreenElement ? 'Leave full screen' : 'Full screen'
  })
  releaseKeys($('[data-stage]'), viewer, $('[data-first]'))
  askForText($('[data-text-dialog]'), (text) => viewer.missing(text, layout?.value), type)

  // A phone shows its keyboard for a field only; the text of this one goes to the server.
  const field = $('[data-phone]')
  field?.addEventListener('input', () => {
    const text = field.value
    field.value = ''
    void viewer.type(text, layout?.value, new AbortController().signal)
  })
  field?.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (viewer.key(event.key)) event.preventDefault()
  })
  return { stopTyping }
}

/** The browser remembers the choice. @returns {HTMLSelectElement | null} */
function rememberedLayout(/** @type {HTMLSelectElement | null} */ select) {
  if (!select) return null
  const known = localStorage.getItem(LAYOUT)
  if ([...select.options].some(({ value }) => value === known)) select.value = /** @type {string} */ (known)
  select.addEventListener('change', () => localStorage.setItem(LAYOUT, select.value))
  return select
}

/** All keys go to the server, Tab too. Control, Alt and Shift together give the keyboard back, to `next`. */
function releaseKeys(/** @type {HTMLElement} */ stage, /** @type {any} */ viewer, /** @type {HTMLElement} */ next) {
  const modifiers = ['Control', 'Alt', 'Shift', 'AltGraph']
  stage.addEventListener('focus', () => viewer.focus())
  addEventListener(
    'keydown',
    (event) => {
      const isExit = event.ctrlKey && event.altKey && event.shiftKey && modifiers.includes(event.key)
      if (!isExit || !stage.contains(document.activeElement)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      viewer.release()
      next.focus()
    },
    true,
  )
  // The panel's own shortcuts are not for keys that go to the server.
  stage.addEventListener('keydown', (event) => event.stopPropagation())
}

/** The dialog for a text. One with characters that are on no key is typed when it is sent a second time. */
function askForText(
  /** @type {HTMLDialogElement} */ dialog,
  /** @type {(text: string) => string[]} */ missingIn,
  /** @type {(text: string) => Promise<void>} */ type,
) {
  const area = /** @type {HTMLTextAreaElement} */ (dialog.querySelector('textarea'))
  const note = /** @type {HTMLElement} */ (dialog.querySelector('[role=alert]'))
  area.addEventListener('input', () => {
    note.textContent = ''
  })
  dialog.querySelector('form')?.addEventListener('submit', (event) => {
    event.preventDefault()
    event.stopPropagation()
    const text = area.value.replaceAll('\r\n', '\n')
    const missing = missingIn(text).slice(0, 20)
    if (missing.length > 0 && !note.textContent) {
      note.textContent = `Not on this keyboard, and left out: ${missing.join(' ')}. Press Type again to go on.`
      return
    }
    note.textContent = ''
    area.value = ''
    dialog.close()
    void type(text)
  })
}
