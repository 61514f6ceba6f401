// The navigation on a narrow screen, behind a button, and menus of actions.
// @ts-check

import { $, $$, closest } from './page.js'

document.addEventListener('click', (event) => {
  const button = closest(event, '.menu-btn')
  if (button) button.setAttribute('aria-expanded', String($('#nav')?.classList.toggle('open')))
  // A menu stays while a dialog of one of its entries is open: closed, it would hide the dialog too.
  const inside = closest(event, 'details.menu')
  for (const menu of openMenus()) if (menu !== inside && !$('dialog[open]', menu)) menu.open = false
  if (inside && closest(event, '.pop button:not([data-dialog])') && !closest(event, 'dialog'))
    openMenus()[0]?.removeAttribute('open')
})

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || $('dialog[open]')) return
  for (const menu of openMenus()) {
    menu.open = false
    $('summary', menu)?.focus()
  }
  const nav = $('#nav.open')
  if (!nav) return
  nav.classList.remove('open')
  $('.menu-btn')?.setAttribute('aria-expanded', 'false')
  $('.menu-btn')?.focus()
})

const openMenus = () => /** @type {HTMLDetailsElement[]} */ ($$('details.menu[open]'))
