// The search: the cursor stays in the field, and what would be opened is said by `aria-activedescendant`.
// @ts-check

// What was pointed at is gone with the answers it stood among.
document.addEventListener('htmx:after:swap', () => {
  const input = $('[data-palette] input[aria-activedescendant]')
  if (input && !$('[data-palette] [role=option][aria-selected=true]')) input.removeAttribute('aria-activedescendant')
})

document.addEventListener('keydown', (event) => {
  const { key } = event
  if (key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    if (!$('dialog[open]')) $('.find')?.click()
  }
  const input = /** @type {HTMLElement} */ (event.target)
  const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[key]
  const options = input.closest('[data-palette]') ? $$('[role=option]') : []
  if (step === undefined || !options[0]) return
  event.preventDefault()
  const at = options.findIndex((o) => o.ariaSelected === 'true')
  if (!step) return options[Math.max(at, 0)]?.click()
  const next = options.at((Math.max(at, step < 0 ? 0 : -1) + step) % options.length)
  for (const o of options) o.ariaSelected = String(o === next)
  input.setAttribute('aria-activedescendant', next?.id ?? '')
  next?.scrollIntoView({ block: 'nearest' })
})
