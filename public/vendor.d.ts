// Scripts that are served, not run here: imported as files, so the import is a path.
declare module '*.min.js' {
  const path: string
  export default path
}
declare module '*/security.js' {
  const path: string
  export default path
}
declare module './panel/*' {
  const path: string
  export default path
}
