import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Html, href, html, rendered } from '../../../src/kernel/web/html.ts'

describe('the html tag', () => {
  test('escapes every character that ends a text or an attribute', () =>
    expect(rendered(html`<p title="${`"'`}">${'<b>&</b>'}</p>`)).toBe(
      '<p title="&quot;&#39;">&lt;b&gt;&amp;&lt;/b&gt;</p>',
    ))

  test('S2: lets nothing of a text become markup, whatever the text', () =>
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom('<', '>', '"', "'", '&', '</p>', '<script>', '<!--'),
        fc.string(),
        (a, b, c) => {
          const text = rendered(html`${a + b + c}`)
          expect(text).not.toMatch(/[<>"']/)
          expect(text.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
          const back: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
          expect(text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => back[name]!)).toBe(a + b + c)
        },
      ),
    ))

  test('keeps what is Html already, once, however deep it lies in lists', () => {
    const row = (name: string) => html`<li>${name}</li>`
    expect(rendered(html`<ul>${[[row('a')], [row('<b>'), '<c>']]}</ul>`)).toBe(
      // The renderer escapes what stands in lists; `>` in a text opens and closes nothing.
      '<ul><li>a</li><li>&lt;b&gt;</li>&lt;c></ul>',
    )
  })
  test('writes numbers, and nothing for false, true, null and undefined', () =>
    expect(rendered(html`${0}|${12n}|${false}${true}${null}${undefined}`)).toBe('0|12|'))

  test('is not fooled by a thing that only looks like Html', () => {
    const forged = { type: 'script', props: {}, text: '<script>', toString: () => '<script>' }
    expect(rendered(html`${forged as unknown as Html}`)).toBe('&lt;script&gt;')
    // From JSON: it cannot say that it has no constructor.
    const parsed = JSON.parse('{"type":"script","props":{"tpl":["<script>"]},"constructor":null}')
    expect(rendered(html`${[parsed as Html]}`)).toBe('')
  })
})

describe('href', () => {
  test('leads to the web or to this site', () => {
    for (const url of ['https://example.com/?a=1', 'http://x/', '/admin/nodes', '#top', '?page=2'])
      expect(href(url)).toBe(url)
  })
  test('S2: leads nowhere for anything that could run or that names its own scheme', () => {
    for (const url of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' javascript:alert(1)',
      '\tjavascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,<script>',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://x',
      '//evil.test',
      'mailto:a@b',
      'x',
      '',
      '\u0001javascript:1',
    ])
      expect(href(url)).toBe('#')
  })
})
