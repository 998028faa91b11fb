import { render } from "preact";

render(<p>heaptap</p>, document.getElementById("app")!);
