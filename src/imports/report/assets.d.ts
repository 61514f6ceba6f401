// The parts of the scripts, which are embedded in the executable as texts.
declare module '*.php' {
  const text: string
  export default text
}
