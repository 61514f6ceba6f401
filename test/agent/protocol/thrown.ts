// The codes with which the handler of a command can fail, found in the source: those of every `new Failure` that it
// reaches, also in each class that implements an interface, and those that the comment of a method says with "Throws".
// A `catch` that never throws its error on ends all of them; one that asks for some codes first ends those.
//
// A function that a class is made with is followed too. Not found: what other functions throw that are handed over as
// values and known by their type alone.
import { join, resolve } from 'node:path'
import ts from 'typescript'

type Reach = { to: ts.Node; without: readonly string[] }
/** `codes`: what it throws itself. `reaches`: whose errors come out of it, but for the codes `without`. */
type Source = { codes: Set<string>; reaches: Reach[] }
/** A code, and the names of the functions that lead to it. */
export type Thrown = ReadonlyMap<string, string>

const ROOT = resolve(import.meta.dir, '../../..')
const AGENT = join(ROOT, 'agent/')
/** Both kinds of hosts, for every class that implements an interface. */
const ENTRIES = ['agent/commands/index.ts', 'agent/host/real-host.ts', 'agent/host/fake-host.ts']

/** Of the agent as it is. */
export function agentProgram(): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT)
  return ts.createProgram(
    ENTRIES.map((path) => join(ROOT, path)),
    options,
  )
}

/** Answers what a handler throws, by the name of its command. `isOurs`: files whose functions are looked into. */
export function thrownIn(program: ts.Program, isOurs = (path: string) => path.startsWith(AGENT)) {
  const checker = program.getTypeChecker()
  const files = program.getSourceFiles().filter(({ fileName }) => isOurs(fileName))
  const classes = implementations(files, checker)
  const codes = new Set(files.flatMap((file) => failureCodes(file, checker)))
  const given = givenToClasses(files, checker)
  const known = new Map<ts.Node, Source>()

  function sourceOf(node: ts.Node): Source {
    const before = known.get(node)
    if (before) return before
    const source: Source = { codes: new Set(documented(node).filter((code) => codes.has(code))), reaches: [] }
    known.set(node, source)
    for (const to of [...(classes.get(node) ?? []), ...(given.get(node) ?? [])])
      source.reaches.push({ to, without: [] })
    // A tried block has no declaration, and is a source of its own: its handler takes codes from it.
    if (!ts.isMethodSignature(node)) walk(bodyOf(node) ?? node, source)
    return source
  }

  function walk(at: ts.Node, source: Source): void {
    if (ts.isTypeNode(at)) return
    const handled = handledBy(at, checker)
    if (handled) {
      const { tried, handler, without } = handled
      if (without !== 'all') source.reaches.push({ to: tried, without })
      for (const each of handler) walk(each, source)
      return
    }
    if (ts.isNewExpression(at)) for (const code of codesOf(at, checker)) source.codes.add(code)
    if (ts.isIdentifier(at) || ts.isPrivateIdentifier(at))
      for (const to of functionsOf(at)) source.reaches.push({ to, without: [] })
    ts.forEachChild(at, (child) => walk(child, source))
  }

  function functionsOf(name: ts.Identifier | ts.PrivateIdentifier): ts.Node[] {
    const isFollowed = (one: ts.Node) => bodyOf(one) || ts.isMethodSignature(one) || given.has(one)
    return declarationsOf(name, checker).filter((one) => isOurs(one.getSourceFile().fileName) && isFollowed(one))
  }

  const handlers = new Map(files.flatMap((file) => handlersIn(file)))
  return (command: string): Thrown => {
    const handler = handlers.get(command)
    if (!handler) throw new Error(`no handler of ${command} was found`)
    const found = new Map<string, string>()
    const queue = [{ to: handler, without: [] as readonly string[], path: command }]
    const seen = new Map<ts.Node, Set<string>>()
    for (const { to, without, path } of queue) {
      const { codes, reaches } = sourceOf(to)
      for (const code of codes) if (!without.includes(code) && !found.has(code)) found.set(code, path)
      for (const next of reaches) {
        const both = [...new Set([...without, ...next.without])].toSorted()
        const times = seen.get(next.to) ?? new Set()
        if (times.has(both.join())) continue
        seen.set(next.to, times.add(both.join()))
        queue.push({ to: next.to, without: both, path: `${path} > ${nameOf(next.to) ?? 'try'}` })
      }
    }
    return found
  }
}

/** All that there are: the type `FailureCode`. */
function failureCodes(file: ts.SourceFile, checker: ts.TypeChecker): string[] {
  const alias = file.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === 'FailureCode')
  const type = alias && checker.getTypeAtLocation(alias)
  return type?.isUnion() ? type.types.flatMap((kind) => (kind.isStringLiteral() ? [kind.value] : [])) : []
}

/** The methods whose names are texts: those of the objects of handlers. */
function handlersIn(file: ts.SourceFile): [string, ts.Node][] {
  const found: [string, ts.Node][] = []
  const look = (at: ts.Node) => {
    if ((ts.isMethodDeclaration(at) || ts.isPropertyAssignment(at)) && ts.isStringLiteral(at.name))
      if (bodyOf(at)) found.push([at.name.text, at])
    ts.forEachChild(at, look)
  }
  look(file)
  return found
}

/** A method of an interface or of a base class, and those of the classes that have it. */
function implementations(files: readonly ts.SourceFile[], checker: ts.TypeChecker) {
  const found = new Map<ts.Node, ts.Node[]>()
  const look = (at: ts.Node) => {
    if (ts.isClassDeclaration(at))
      for (const type of (at.heritageClauses ?? []).flatMap(({ types }) => types))
        for (const property of checker.getTypeAtLocation(type).getProperties()) {
          const own = at.members.find((member) => member.name?.getText() === property.name)
          for (const declared of own ? (property.declarations ?? []) : [])
            found.set(declared, [...(found.get(declared) ?? []), own!])
        }
    ts.forEachChild(at, look)
  }
  for (const file of files) look(file)
  return found
}

/** The functions that the parameters of constructors are given, also by default. */
function givenToClasses(files: readonly ts.SourceFile[], checker: ts.TypeChecker) {
  const found = new Map<ts.Node, ts.Node[]>()
  const look = (at: ts.Node) => {
    const made = ts.isNewExpression(at) ? at : undefined
    const parameters = made && classOf(made, checker)?.members.find(ts.isConstructorDeclaration)?.parameters
    for (const [i, parameter] of (parameters ?? []).entries()) {
      const value = made!.arguments?.[i] ?? parameter.initializer
      if (value && checker.getTypeAtLocation(parameter).getNonNullableType().getCallSignatures().length)
        found.set(parameter, [...(found.get(parameter) ?? []), value])
    }
    ts.forEachChild(at, look)
  }
  for (const file of files) look(file)
  return found
}

function declarationsOf(name: ts.Identifier | ts.PrivateIdentifier, checker: ts.TypeChecker): readonly ts.Node[] {
  const symbol = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name)
  const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (target?.declarations ?? []).flatMap((declared): readonly ts.Node[] => {
    if (!ts.isBindingElement(declared)) return [declared]
    // A part of an object, under its own name there.
    const part = (declared.propertyName ?? declared.name).getText()
    return checker.getTypeAtLocation(declared.parent).getProperty(part)?.declarations ?? []
  })
}

function bodyOf(node: ts.Node): ts.Node | undefined {
  if (ts.isFunctionLike(node)) return (node as ts.FunctionLikeDeclaration).body
  if (!ts.isVariableDeclaration(node) && !ts.isPropertyDeclaration(node) && !ts.isPropertyAssignment(node))
    return undefined
  const { initializer } = node
  return initializer && (isFunction(initializer) || ts.isCallExpression(initializer)) ? initializer : undefined
}

const isFunction = (node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression =>
  ts.isArrowFunction(node) || ts.isFunctionExpression(node)
const nameOf = (node: ts.Node) => (node as ts.NamedDeclaration).name?.getText()

type Handled = { tried: ts.Node; handler: readonly ts.Node[]; without: readonly string[] | 'all' }

/** The tried part, and the codes that its handler ends: `try` with `catch`, or a call of `catch`. */
function handledBy(at: ts.Node, checker: ts.TypeChecker): Handled | undefined {
  if (ts.isTryStatement(at) && at.catchClause) {
    const { block, variableDeclaration } = at.catchClause
    const without = endedBy(block, variableDeclaration?.name.getText(), checker)
    return { tried: at.tryBlock, handler: [block, ...(at.finallyBlock ? [at.finallyBlock] : [])], without }
  }
  if (!ts.isCallExpression(at) || !ts.isPropertyAccessExpression(at.expression)) return undefined
  const [handler] = at.arguments
  if (at.expression.name.text !== 'catch' || !handler || !isFunction(handler)) return undefined
  const without = endedBy(handler.body, handler.parameters[0]?.name.getText(), checker)
  return { tried: at.expression.expression, handler: [handler.body], without }
}

/** The codes of the error that go no further; another error in its place is found in the handler itself. */
function endedBy(handler: ts.Node, error: string | undefined, checker: ts.TypeChecker): readonly string[] | 'all' {
  let isThrownOn = false
  let endsFailures = false
  const asked = new Set<string>()
  const throwsOn = (at: ts.Node): boolean =>
    (ts.isThrowStatement(at) && !ts.isNewExpression(at.expression) && mentions(at.expression, error)) ||
    (ts.forEachChild(at, throwsOn) ?? false)
  const look = (at: ts.Node) => {
    if (ts.isThrowStatement(at)) isThrownOn ||= throwsOn(at)
    if (ts.isIfStatement(at)) {
      const words = at.expression.getText()
      const isWhole = /\binstanceof Failure\b/.test(words) && !/\.code\b|&&/.test(words)
      const isNot = /!\(\w+ instanceof Failure\)/.test(words)
      if (isWhole && isNot === throwsOn(at.thenStatement)) endsFailures = true
      for (const code of textsIn(at.expression, checker)) asked.add(code)
    }
    ts.forEachChild(at, look)
  }
  look(handler)
  return !isThrownOn || endsFailures ? 'all' : [...asked]
}

const mentions = (at: ts.Node, name: string | undefined) =>
  name !== undefined && new RegExp(`\\b${name}\\b`).test(at.getText())

/** The texts in a condition, and in the functions and lists of its own file that it names. */
function textsIn(at: ts.Node, checker: ts.TypeChecker, seen = new Set<ts.Node>()): string[] {
  const found: string[] = []
  const look = (each: ts.Node) => {
    if (ts.isStringLiteral(each)) found.push(each.text)
    if (ts.isIdentifier(each))
      for (const declared of declarationsOf(each, checker)) {
        if (!ts.isVariableDeclaration(declared) || declared.getSourceFile() !== at.getSourceFile()) continue
        if (seen.has(declared) || !declared.initializer) continue
        seen.add(declared)
        found.push(...textsIn(declared.initializer, checker, seen))
      }
    ts.forEachChild(each, look)
  }
  look(at)
  return found
}

/** The codes of a failure that is made here. One that is known at run time only is written as its expression. */
function codesOf(made: ts.NewExpression, checker: ts.TypeChecker): string[] {
  const [code] = made.expression.getText() === 'Failure' ? (made.arguments ?? []) : handedUp(made, checker)
  if (!code) return []
  const type = checker.getTypeAtLocation(code)
  const kinds = type.isUnion() ? type.types : [type]
  return kinds.map((kind) => (kind.isStringLiteral() ? kind.value : `(${code.getText()})`))
}

const classOf = ({ expression }: ts.NewExpression, checker: ts.TypeChecker) =>
  ts.isIdentifier(expression) ? declarationsOf(expression, checker).find(ts.isClassDeclaration) : undefined

/** The arguments that the constructor of a class of failures hands up to `Failure`. */
function handedUp(made: ts.NewExpression, checker: ts.TypeChecker): readonly ts.Expression[] {
  const of = classOf(made, checker)
  const own = of?.heritageClauses?.[0]?.types[0]?.getText() === 'Failure' ? of : undefined
  const isSuper = (at: ts.Node): at is ts.CallExpression =>
    ts.isCallExpression(at) && at.expression.kind === ts.SyntaxKind.SuperKeyword
  const callIn = (at: ts.Node): ts.CallExpression | undefined => (isSuper(at) ? at : ts.forEachChild(at, callIn))
  return (own && callIn(own)?.arguments) ?? []
}

/** The quoted words after "Throws" in the comment before it, up to the end of the sentence. */
function documented(node: ts.Node): string[] {
  const { text } = node.getSourceFile()
  const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []
  return comments
    .flatMap(({ pos, end }) => [...text.slice(pos, end).matchAll(/\bThrows\b[^.;]*/g)])
    .flatMap(([words]) => [...words.matchAll(/`([^`]+)`/g)].map(([, code]) => code!))
}
