// Pages are drawn by the server: asked for again, they are changed where they differ. Some things a redraw must leave alone.
// @ts-check

/** Draws the page again where it changed. */
const refresh = () => htmx.ajax('GET', location.pathname + location.search, { target: '#main', select: '#main', swap: 'outerMorph' })

/** Live parts keep asking; this says that what is shown may be old. */
const answering = (/** @type {boolean} */ yes) => void ($('#offline') && /** @type {HTMLElement} */ (($('#offline').hidden = yes)))

htmx.registerExtension('panel', {
  htmx_before_morph_node: (/** @type {Element} */ _, /** @type {any} */ { oldNode }) =>
    !(oldNode instanceof HTMLDialogElement && oldNode.open),
  htmx_before_morph_attr: (/** @type {Element} */ element, /** @type {any} */ { attrName }) =>
    !(attrName === 'open' && element instanceof HTMLDetailsElement),
})

for (const it of $$('[data-reload]')) setTimeout(() => location.reload(), Number(it.dataset['reload']) * 1000)
