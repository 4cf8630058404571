# A static binary on an image that holds nothing else but a place for temporary files and a user that
# is not root:
#   docker build -t amplint . && docker run --rm -v "$PWD:/models" amplint check /models/model.onnx
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o /amplint .

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /amplint /usr/local/bin/amplint
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/amplint"]
CMD ["--help"]
