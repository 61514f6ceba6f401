// Files that are embedded in the executable: text is the content, everything else a path.
declare module '*.sql' {
  const text: string
  export default text
}
declare module '*.css' {
  const path: string
  export default path
}
declare module '*.svg' {
  const path: string
  export default path
}
declare module '*.sh' {
  const path: string
  export default path
}
