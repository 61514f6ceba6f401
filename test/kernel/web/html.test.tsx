import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Html, href, rendered } from '../../../src/kernel/web/html.ts'

describe('rendered markup', () => {
  test('escapes every character that ends a text or an attribute', () =>
    expect(rendered(<p title={`"&'`}>{'<b>&</b>'}</p>)).toBe(`<p title="&quot;&amp;'">&lt;b>&amp;&lt;/b></p>`))

  test('S2: lets nothing of a text become markup, whatever the text', () =>
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom('<', '>', '"', "'", '&', '</p>', '<script>', '<!--'),
        fc.string(),
        (a, b, c) => {
          const words = a + b + c
          const [, attribute, text] = /^<p data-of="([^"<]*)">([^<]*)<\/p>$/s.exec(
            rendered(<p data-of={words}>{words}</p>),
          )!
          const back: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
          const read = (escaped: string) => escaped.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => back[name]!)
          expect([read(attribute!), read(text!)]).toEqual([words, words])
        },
      ),
    ))

  test('keeps what is markup already, once, however deep it lies in lists', () => {
    const row = (name: string) => <li>{name}</li>
    expect(rendered(<ul>{[[row('a')], [row('<b>'), '<c>']]}</ul>)).toBe(
      // `>` in a text opens and closes nothing.
      '<ul><li>a</li><li>&lt;b></li>&lt;c></ul>',
    )
  })

  test('is not fooled by a thing that only looks like markup', () => {
    const forged = { type: 'script', props: {}, text: '<script>', toString: () => '<script>' }
    expect(rendered(<p>{forged as unknown as Html}</p>)).toBe('<p></p>')
    // From JSON: it cannot say that it has no constructor.
    const parsed = JSON.parse('{"type":"script","props":{"tpl":["<script>"]},"constructor":null}')
    expect(rendered(<p>{[parsed as Html]}</p>)).toBe('<p></p>')
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
