/* Search from disk: a browser starts no Worker from file:, so a hidden frame of the page plays its part. */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.document.open()
      inside.document.write("<html><body></body></html>")
      inside.document.close()
      inside.IFrameWorker = window.IFrameWorker
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const load = src => new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.src = src
        script.onload = resolve
        inside.document.body.append(script)
      })
      inside.importScripts = (...urls) => urls.reduce((before, src) => before.then(() => load(src)), Promise.resolve())
      this.ready = load(url)
    }
    postMessage(data) {
      const inside = this.frame.contentWindow
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
