//go:build (!amd64 && !arm64) || (amd64 && noasm)

package kern

// multiply computes the tile.
func (t *tile) multiply(Level) { t.multiplyGo() }
