// XML as libvirt writes it: elements, attributes in quotes, text. Whatever two parsers could read in two ways (document
// types, entities of one's own, comments, sections, instructions) is refused, because libvirt reads the same text
// later.

export type Element = {
  name: string
  attributes: ReadonlyMap<string, string>
  children: readonly Element[]
  /** Without the white space around it; empty where there are children. */
  text: string
}

const NAME = /[A-Za-z_][A-Za-z0-9_.:-]{0,63}/y
const SPACE = /[ \t\r\n]*/y
const ATTRIBUTE = /[ \t\r\n]+([A-Za-z_][A-Za-z0-9_.:-]{0,63})=(?:"([^"<]*)"|'([^'<]*)')/y
const TEXT = /[^<]*/y
/** Tab, line feed and carriage return are the only control characters of XML. */
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** A domain of libvirt is 7 deep, and its largest known one has some 1500 elements. */
const MOST_DEPTH = 24
const MOST_ELEMENTS = 20_000

/** Parses one element with all that is in it. Throws an `Error` that names what was refused. */
export function parseStrictXml(text: string): Element {
  if (FORBIDDEN.test(text)) throw new Error('it has characters that no XML has')
  let at = 0
  let elements = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const expect = (word: string) => {
    if (!text.startsWith(word, at)) throw new Error(`${word} was expected at character ${at}`)
    at += word.length
  }

  function element(depth: number): Element {
    if (depth > MOST_DEPTH) throw new Error(`it is deeper than ${MOST_DEPTH} elements`)
    if (++elements > MOST_ELEMENTS) throw new Error(`it has more than ${MOST_ELEMENTS} elements`)
    expect('<')
    const name = match(NAME)?.[0]
    if (!name) throw new Error(`no name of an element at character ${at}`)
    const attributes = new Map<string, string>()
    for (let found = match(ATTRIBUTE); found; found = match(ATTRIBUTE)) {
      const [, key = '', double, single] = found
      if (attributes.has(key)) throw new Error(`${name} has ${key} twice`)
      attributes.set(key, plain(double ?? single ?? ''))
    }
    match(SPACE)
    if (text.startsWith('/>', at)) {
      at += 2
      return { name, attributes, children: [], text: '' }
    }
    expect('>')
    const children: Element[] = []
    let words = ''
    for (;;) {
      words += match(TEXT)![0]
      if (text.startsWith('</', at)) break
      children.push(element(depth + 1))
    }
    expect(`</${name}`)
    match(SPACE)
    expect('>')
    const inner = plain(words).trim()
    if (children.length && inner) throw new Error(`${name} has text beside its elements`)
    return { name, attributes, children, text: inner }
  }

  match(SPACE)
  const root = element(1)
  match(SPACE)
  if (at < text.length) throw new Error('something follows its end')
  return root
}

function plain(text: string): string {
  return text.replace(/&([^;&]{0,8}(;?))/g, (_, word: string) => {
    const character = ENTITIES[word.slice(0, -1)]
    if (!word.endsWith(';') || character === undefined) throw new Error(`the entity &${word} is not known here`)
    return character
  })
}

const quoted = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&${Object.entries(ENTITIES).find(([, is]) => is === character)![0]};`)

/** The text of an element, in one line. */
export function strictXml({ name, attributes, children, text }: Element): string {
  const words = [...attributes].map(([key, value]) => ` ${key}="${quoted(value)}"`).join('')
  const inner = children.length ? children.map(strictXml).join('') : quoted(text)
  return inner ? `<${name}${words}>${inner}</${name}>` : `<${name}${words}/>`
}

/** The children of this name. */
export const childrenOf = (element: Element, name: string) => element.children.filter((child) => child.name === name)
export const childOf = (element: Element, name: string) => element.children.find((child) => child.name === name)
/** The attribute of the first child of this name. */
export const attributeOf = (element: Element, child: string, attribute: string) =>
  childOf(element, child)?.attributes.get(attribute)
