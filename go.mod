module github.com/amplint/amplint

go 1.26
