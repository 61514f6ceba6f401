// The small tools that every other module of this folder uses.
// @ts-check

export const htmx = /** @type {any} */ (globalThis).htmx
export const $ = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) =>
  /** @type {HTMLElement | null} */ (root.querySelector(selector))
export const $$ = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) =>
  /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)])
export const make = (
  /** @type {string} */ tag,
  /** @type {Record<string, string>} */ attributes = {},
  /** @type {(Node | string)[]} */ ...inner
) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...inner)
  return element
}

/** Declares an Alpine component (`x-data`), for pages that load Alpine. */
export const component = (/** @type {string} */ name, /** @type {() => object} */ state) =>
  document.addEventListener('alpine:init', () => /** @type {any} */ (globalThis).Alpine.data(name, state))
/** The area of this kind of account: `/admin`, `/reseller` or empty. */
export const area = document.documentElement.dataset['area'] ?? ''
/** Opens an address of this site, as the browser itself parses it; any other address is ignored. */
export const go = (/** @type {string} */ path) => {
  const to = /** @type {HTMLAnchorElement} */ (make('a', { href: path }))
  if (path.startsWith('/') && to.origin === location.origin) location.assign(to.href)
}

/** To another site, such as the identity provider: only where a form says that its call answers such an address. */
export const leave = (/** @type {string} */ url) => {
  if (/^https?:$/.test(new URL(url).protocol)) location.assign(url)
}

/** The value of a JSON text; undefined for any other text. */
export function parsed(/** @type {string} */ text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The element that an event happened in, going outwards. @returns {HTMLElement | null} */
export const closest = (/** @type {Event} */ { target }, /** @type {string} */ selector) =>
  /** @type {Element} */ (target).closest(selector)
