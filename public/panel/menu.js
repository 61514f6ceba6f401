// The navigation on a narrow screen, behind a button.
// @ts-check

document.addEventListener('click', (event) => {
  const menu = around(event, '.menu')
  if (!menu) return
  event.preventDefault()
  menu.setAttribute('aria-expanded', String($('#nav')?.classList.toggle('open')))
})

document.addEventListener('keydown', (event) => {
  const nav = $('#nav.open')
  if (event.key !== 'Escape' || !nav) return
  nav.classList.remove('open')
  $('.menu')?.setAttribute('aria-expanded', 'false')
  $('.menu')?.focus()
})
