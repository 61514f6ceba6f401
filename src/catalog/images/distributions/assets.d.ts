// Keys are embedded in the executable as their text.
declare module '*.asc' {
  const text: string
  export default text
}
